package nft

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

const (
	// hushTable is the name of two tables, one for ARP and one for IPv4.
	hushTable = "onprem-infra-hush"
	// hushTime is when the kernel itself forgets what is hushed, should its caller be killed.
	hushTime = 2 * time.Second
	// arpSender is where an ARP packet for IPv4 over Ethernet says whose address its sender claims
	// (RFC 826).
	arpSender = 14
)

// arpOutput is NF_ARP_OUT of the kernel.
var arpOutput = nftables.ChainHookRef(1)

// hush is one of the ways in which an address shows: packets of a family, with the address at an
// offset, that pass a hook.
type hush struct {
	family   nftables.TableFamily
	hook     *nftables.ChainHook
	priority *nftables.ChainPriority
	offset   uint32
	besides  []expr.Any
}

// Hush keeps an IPv4 address to this host for hushTime at most: no ARP packet goes out that claims
// it, and with deaf nothing that is sent to it comes in. What is sent to it while it is no address
// of this host at all goes on, as on any host that forwards.
func Hush(secret netip.Addr, deaf bool) error {
	if !secret.Is4() {
		return fmt.Errorf("hush %s: not an IPv4 address", secret)
	}
	c, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open netfilter: %w", err)
	}
	_, _, destination := header(secret)
	hushed := []hush{{nftables.TableFamilyARP, arpOutput, nftables.ChainPriorityFilter, arpSender, nil}}
	if deaf {
		hushed = append(hushed, hush{nftables.TableFamilyIPv4, nftables.ChainHookPrerouting, nftables.ChainPriorityRaw, destination, local()})
	}
	for _, one := range hushed {
		t := &nftables.Table{Name: hushTable, Family: one.family}
		c.AddTable(t) // so that there is one to remove
		c.DelTable(t)
		c.AddTable(t)
		set := &nftables.Set{Table: t, Name: "hushed", KeyType: nftables.TypeIPAddr, HasTimeout: true}
		if err := c.AddSet(set, []nftables.SetElement{{Key: secret.AsSlice(), Timeout: hushTime}}); err != nil {
			return fmt.Errorf("hush %s: %w", secret, err)
		}
		chain := c.AddChain(&nftables.Chain{Name: "hush", Table: t, Type: nftables.ChainTypeFilter, Hooknum: one.hook, Priority: one.priority})
		secrets := []expr.Any{address(one.offset, secret), &expr.Lookup{SourceRegister: register, SetName: set.Name, SetID: set.ID}}
		c.AddRule(&nftables.Rule{Table: t, Chain: chain, Exprs: concat(secrets, one.besides, []expr.Any{&expr.Verdict{Kind: expr.VerdictDrop}})})
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("hush %s: %w", secret, err)
	}
	return nil
}

// Unhush ends what Hush began, whoever called it. That nothing is hushed is no error.
func Unhush() error {
	c, err := nftables.New()
	if err != nil {
		return fmt.Errorf("open netfilter: %w", err)
	}
	for _, family := range []nftables.TableFamily{nftables.TableFamilyARP, nftables.TableFamilyIPv4} {
		t := &nftables.Table{Name: hushTable, Family: family}
		there, err := exists(c, *t)
		if err != nil {
			return fmt.Errorf("look for table %s: %w", hushTable, err)
		}
		if !there {
			continue
		}
		c.DelTable(t)
		if err := c.Flush(); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("remove table %s: %w", hushTable, err)
		}
	}
	return nil
}
