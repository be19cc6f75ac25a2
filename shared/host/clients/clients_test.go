package clients

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/clients"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

const api, balanced = 6443, 9445

// network is a client's host, the holder of a VIP, and its successor, on one switch.
type network struct{ client, holder, successor netns.Namespace }

func newNetwork(t *testing.T) network {
	t.Helper()
	n := network{netns.New(t), netns.New(t), netns.New(t)}
	n.client.IP(t, "link set lo up\nlink add br0 type bridge\nlink set br0 up\naddr add 192.0.2.20/24 dev br0\naddr add 2001:db8::20/64 dev br0 nodad\n")
	for i, ns := range []netns.Namespace{n.holder, n.successor} {
		n.client.IP(t, fmt.Sprintf("link add p%d type veth peer name e0 netns %s\nlink set p%d master br0 up\n", i, ns.Path(), i))
		ns.IP(t, fmt.Sprintf("link set lo up\nlink set e0 up\naddr add 192.0.2.1%d/24 dev e0\naddr add 2001:db8::1%d/64 dev e0 nodad\n", i, i))
	}
	return n
}

func in(t *testing.T, ns netns.Namespace, f func() error) {
	t.Helper()
	if err := ns.In(f); err != nil {
		t.Fatal(err)
	}
}

// serve accepts connections and sends nothing.
func serve(t *testing.T, ns netns.Namespace, port int) {
	t.Helper()
	in(t, ns, func() error {
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return err
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				t.Cleanup(func() { c.Close() })
			}
		}()
		return nil
	})
}

// pod is a host behind another one, which masks its address and drops what belongs to no connection
// that it knows.
func pod(t *testing.T, behind netns.Namespace) netns.Namespace {
	t.Helper()
	ns := netns.New(t)
	behind.IP(t, fmt.Sprintf("link add p9 type veth peer name e0 netns %s\nlink set p9 up\naddr add 10.0.0.1/24 dev p9\naddr add fd00::1/64 dev p9 nodad\n", ns.Path()))
	ns.IP(t, "link set lo up\nlink set e0 up\naddr add 10.0.0.2/24 dev e0\naddr add fd00::2/64 dev e0 nodad\nroute add default via 10.0.0.1\nroute add default via fd00::1\n")
	in(t, behind, func() error {
		for _, path := range []string{"ipv4/ip_forward", "ipv6/conf/all/forwarding"} {
			if err := os.WriteFile("/proc/sys/net/"+path, []byte("1"), 0o644); err != nil {
				return err
			}
		}
		c, err := nftables.New()
		if err != nil {
			return err
		}
		table := c.AddTable(&nftables.Table{Name: "pod", Family: nftables.TableFamilyINet})
		nat := c.AddChain(&nftables.Chain{Name: "nat", Table: table, Type: nftables.ChainTypeNAT, Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource})
		out := append([]byte("br0"), make([]byte, 13)...) // IFNAMSIZ
		c.AddRule(&nftables.Rule{Table: table, Chain: nat, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyOIFNAME, Register: 1}, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: out}, &expr.Masq{},
		}})
		for _, hook := range []*nftables.ChainHook{nftables.ChainHookForward, nftables.ChainHookInput} {
			filter := c.AddChain(&nftables.Chain{Name: fmt.Sprint("filter", *hook), Table: table, Type: nftables.ChainTypeFilter, Hooknum: hook, Priority: nftables.ChainPriorityFilter})
			invalid := binaryutil.NativeEndian.PutUint32(expr.CtStateBitINVALID)
			c.AddRule(&nftables.Rule{Table: table, Chain: filter, Exprs: []expr.Any{
				&expr.Ct{Key: expr.CtKeySTATE, Register: 1},
				&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: invalid, Xor: make([]byte, 4)},
				&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: make([]byte, 4)}, &expr.Verdict{Kind: expr.VerdictDrop},
			}})
		}
		return c.Flush()
	})
	return ns
}

// TestEnd holds that a client which only waits notices at once that the holder of the VIP has
// vanished, when its successor ends what the holder has listed; and that it does not otherwise.
func TestEnd(t *testing.T) {
	const many = 50
	for _, tt := range []struct {
		name, vip string
		redirects bool
		masks     bool // the client is a pod, behind its host's address and a firewall
		ends      bool
	}{
		{"IPv4", "192.0.2.5", false, false, true},
		{"IPv4, redirected", "192.0.2.5", true, false, true},
		{"IPv4, redirected, a pod", "192.0.2.5", true, true, true},
		{"IPv6", "2001:db8::5", false, false, true},
		{"IPv6, redirected", "2001:db8::5", true, false, true},
		{"IPv6, a pod", "2001:db8::5", false, true, true},
		{"nobody ends them", "192.0.2.5", true, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, vip := newNetwork(t), netip.MustParseAddr(tt.vip)
			port, moved := api, map[uint16]uint16(nil)
			hold := fmt.Sprintf("addr add %s dev e0 nodad\n", netip.PrefixFrom(vip, vip.BitLen()))
			n.holder.IP(t, hold)
			if tt.redirects {
				port, moved = balanced, map[uint16]uint16{balanced: api}
				rules := redirect.Rules{Redirects: []redirect.Redirect{{VIP: vip, From: api, To: balanced}}}
				for _, ns := range []netns.Namespace{n.holder, n.successor} {
					in(t, ns, func() error { _, err := nft.Ensure(rules); return err })
				}
			}
			serve(t, n.holder, port)
			serve(t, n.successor, port)
			client := n.client
			if tt.masks {
				client = pod(t, n.client)
			}
			var conns []net.Conn
			in(t, client, func() error {
				for range many {
					c, err := net.DialTimeout("tcp", netip.AddrPortFrom(vip, api).String(), 2*time.Second)
					if err != nil {
						return err
					}
					t.Cleanup(func() { c.Close() })
					conns = append(conns, c)
				}
				return nil
			})
			var list []clients.Client
			in(t, n.holder, func() (err error) { list, err = List(vip, moved); return err })
			if len(list) != many || list[0].Port != api {
				t.Fatalf("%d clients, first %+v", len(list), list)
			}

			n.client.IP(t, "link set p0 down\n")
			n.successor.IP(t, hold)
			in(t, n.successor, func() error { return reach.Announce("e0", vip) })
			begin, done := time.Now(), make(chan error, 1)
			go func() {
				done <- n.successor.In(func() error {
					if !tt.ends {
						return nil
					}
					return End(context.Background(), vip, list)
				})
			}()
			ended := 0
			for _, c := range conns {
				c.SetReadDeadline(begin.Add(time.Second))
				if _, err := c.Read(make([]byte, 1)); errors.Is(err, unix.ECONNRESET) {
					ended++
				}
			}
			if want := map[bool]int{true: many}[tt.ends]; ended != want {
				t.Errorf("%d of %d connections ended, want %d", ended, many, want)
			}
			t.Logf("%d of %d connections ended within %v", ended, many, time.Since(begin))
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}
