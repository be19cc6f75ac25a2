package nft

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

const (
	// hushTable is the name of two tables, one for ARP and one for IPv4.
	hushTable = "onprem-infra-hush"
	// hushTime is how long the kernel hides an address if Hush's caller is killed.
	hushTime = 2 * time.Second
	// arpSender is where an ARP packet for IPv4 over Ethernet has the address that its sender
	// claims (RFC 826).
	arpSender = 14
)

// arpOutput is NF_ARP_OUT of the kernel.
var arpOutput = nftables.ChainHookRef(1)

// hush is what is dropped of an address: packets of a family, with the address where load reads it,
// that pass a hook and match further expressions.
type hush struct {
	family   nftables.TableFamily
	hook     *nftables.ChainHook
	priority *nftables.ChainPriority
	load     expr.Any
	further  []expr.Any
}

// Hush hides IPv4 addresses of this host for hushTime at most: no ARP packet that claims one is
// sent, and if incoming is set, no packet to one is received. Packets to one while it is no address
// of this host are forwarded, as on any host that forwards. It replaces what an earlier call hid.
func Hush(incoming bool, hidden ...netip.Addr) error {
	var elements []nftables.SetElement
	for _, one := range hidden {
		if !one.Is4() {
			return fmt.Errorf("hush %s: not an IPv4 address", one)
		}
		elements = append(elements, nftables.SetElement{Key: one.AsSlice(), Timeout: hushTime})
	}
	c, err := connect()
	if err != nil {
		return err
	}
	_, _, destination := header(netip.IPv4Unspecified())
	sender := load(expr.PayloadBaseNetworkHeader, arpSender, 4)
	arp := hush{nftables.TableFamilyARP, arpOutput, nftables.ChainPriorityFilter, sender, nil}
	ip := hush{nftables.TableFamilyIPv4, nftables.ChainHookPrerouting, nftables.ChainPriorityRaw,
		destination, local()}
	hushed := []hush{arp, ip}
	if !incoming {
		hushed = hushed[:1]
	}
	for _, one := range hushed {
		t := &nftables.Table{Name: hushTable, Family: one.family}
		replace(c, t, nil)
		set := &nftables.Set{Table: t, Name: "hide", HasTimeout: true, KeyType: nftables.TypeIPAddr}
		if err := c.AddSet(set, elements); err != nil {
			return fmt.Errorf("hush %v: %w", hidden, err)
		}
		lookup := &expr.Lookup{SourceRegister: register, SetName: set.Name, SetID: set.ID}
		drop := append([]expr.Any{one.load, lookup}, one.further...)
		rules := [][]expr.Any{append(drop, verdict(expr.VerdictDrop))}
		chain{"hush", nftables.ChainTypeFilter, one.hook, one.priority, rules}.add(c, t)
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("hush %v: %w", hidden, err)
	}
	return nil
}

// Unhush undoes Hush, in whatever process. That nothing is hushed is no error.
func Unhush() error {
	c, err := connect()
	if err != nil {
		return err
	}
	_, errARP := removeTable(c, &nftables.Table{Name: hushTable, Family: nftables.TableFamilyARP})
	_, err = removeTable(c, &nftables.Table{Name: hushTable, Family: nftables.TableFamilyIPv4})
	if err := errors.Join(errARP, err); err != nil {
		return fmt.Errorf("remove table %s: %w", hushTable, err)
	}
	return nil
}
