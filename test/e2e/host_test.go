package e2e

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// The machine's own addresses.
const own, own6 = "192.0.2.10", "2001:db8:1::10"

// hostDrills is one machine that goes through what hosts do to it.
type hostDrills struct {
	*testing.T
	c         *chain.Chain
	o, o6     *lab.Observer // of the IPv4 and the IPv6 VIP
	announced *announcements
	foreign   *lab.Host // holds what is not its own, at first
}

// TestLongHost boots a machine that has no address, on a network where another host holds both
// VIPs. When that is put right, its network changes under the VIPs, and its processes are stopped.
// Two masters wait for their chance.
func TestLongHost(t *testing.T) {
	needLong(t)
	h := &hostDrills{T: t, c: installed(t, "dual")}
	h.foreign = h.c.Masters[0].Host
	h.observe()
	h.announced = listen(t, h.c.Neighbour, h.mac(h.c.Bootstrap))
	h.do(h.c.Bootstrap, "sysctl", "-q", "-w",
		// What has been confirmed lately is believed for half a minute. This machine is quicker to
		// doubt, so that the test is quicker.
		"net.ipv4.neigh.eth0.base_reachable_time_ms=4000", "net.ipv6.neigh.eth0.base_reachable_time_ms=4000",
		// As systemd sets it, so that the first address of a network does not take the others
		// along.
		"net.ipv4.conf.all.promote_secondaries=1")

	h.noAddress()
	h.taken()
	h.given()
	if t.Failed() {
		return
	}
	h.observe() // from here on nobody else
	join(t, h.c, h.o)
	h.stopped()
	h.links()
	h.renamed()
	h.readdressed()
	h.bridged()
	serves(t, h.c)
	show(t, h.o.Report())
}

// observe begins to look at who holds the VIPs.
func (h *hostDrills) observe() {
	for vip, o := range map[netip.Addr]**lab.Observer{chain.APIVIP: &h.o, chain.APIVIP6: &h.o6} {
		*o = observe(h.T, vip, h.c.Bootstrap, h.foreign, h.c.Masters[1].Host)
	}
}

// noAddress boots the machine before anybody has told it its address.
func (h *hostDrills) noAddress() {
	drill{
		fault: "no address yet at boot",
		inject: func() {
			h.ip(h.c.Bootstrap, "address flush dev eth0 scope global")
			must(h.T, h.c.Boot(h.Context()))
		},
		within: time.Minute,
		right:  func() (string, error) { return h.waits("waits for an address beside the API VIP") },
	}.run(h.T)
}

// taken has the machine get its addresses while another host holds both VIPs and serves somebody
// there.
func (h *hostDrills) taken() {
	mac := h.mac(h.foreign)
	h.ip(h.foreign, "address add 192.0.2.5/32 dev eth0", "address add 2001:db8:1::5/128 dev eth0 nodad")
	talk := h.talk(netip.AddrPortFrom(chain.APIVIP, 7))
	drill{
		fault:  "both VIPs held by another host when the address comes",
		inject: func() { h.ip(h.c.Bootstrap, h.addresses("eth0")...) },
		within: 10 * time.Second,
		right: func() (string, error) {
			_, err := h.waits(
				fmt.Sprintf("%s is held by another host, %s on eth0: take it off that host or choose another API VIP", chain.APIVIP, mac),
				fmt.Sprintf("%s is held by another host, %s on eth0: take it off that host or choose another API VIP", chain.APIVIP6, mac))
			return "said who holds them and what to do, not READY, left alone", err
		},
	}.run(h.T)
	for range 8 { // longer than keepalived listens
		time.Sleep(time.Second)
		talk(h.T)
	}
	if n := h.announced.of("VRRP", "ARP "+chain.APIVIP.String(), "ND "+chain.APIVIP6.String()); n > 0 {
		h.Errorf("the machine announced what is not its own, %d times: %v", n, h.announced.seen)
	}
	for _, o := range []*lab.Observer{h.o, h.o6} {
		if got := o.Report().Spans; len(got) > 2 || !slices.Equal(o.Holders(), []string{h.foreign.Name}) {
			h.Errorf("held by %v", got)
		}
	}
}

// given has the other host give up one VIP and then the other one.
func (h *hostDrills) given() {
	drill{
		fault:  "the other host gives the IPv6 VIP up",
		inject: func() { h.ip(h.foreign, "address del 2001:db8:1::5/128 dev eth0") },
		within: 40 * time.Second, // up to 6 s of trust, 5 s of doubt, 3 s of questions, 3.7 s of listening
		right: func() (string, error) {
			if err := holders(h.o6, "bootstrap"); err != nil {
				return "", err
			}
			_, err := h.waits(chain.APIVIP6.String()+" MASTER", chain.APIVIP.String()+" is held by another host")
			return "the IPv6 VIP came, the other one was left alone", errors.Join(err, holders(h.o, h.foreign.Name))
		},
	}.run(h.T)
	drill{
		fault:  "and the IPv4 VIP",
		inject: func() { h.ip(h.foreign, "address del 192.0.2.5/32 dev eth0") },
		within: 40 * time.Second,
		right:  func() (string, error) { return "it came beside the other one", holders(h.o, "bootstrap") },
	}.run(h.T)
	if gaps := h.o6.Report().Gaps(); len(gaps) != 1 { // between the two hosts
		h.Errorf("the IPv6 VIP was away: %v", gaps)
	}
	active(h.T, h.c, chain.Unit, dnsUnit)
	if h.announced.of("ARP "+chain.APIVIP.String()) == 0 || h.announced.of("ND "+chain.APIVIP6.String()) == 0 {
		h.Errorf("the machine did not announce what is its own, or nobody could hear it: %v", h.announced.seen)
	}
	serves(h.T, h.c)
}

// stopped stops keepalived by a signal, which it does not survive as a holder unless somebody
// notices.
func (h *hostDrills) stopped() {
	const vrrp = "pid=$(podman inspect --format '{{.State.Pid}}' onprem-keepalived); main=$(pgrep -P \"$pid\" keepalived); vrrp=$(pgrep -P \"$main\" keepalived); "
	for i, tt := range []struct{ fault, script string }{
		{"keepalived's VRRP process stopped (SIGSTOP)", `kill -STOP "$vrrp"`},
		{"keepalived's parent process stopped (SIGSTOP)", `kill -STOP "$main"`},
	} {
		var since time.Time
		drill{
			fault:  tt.fault,
			inject: func() { since = time.Now(); sh(h.T, h.c, vrrp+tt.script) },
			within: 5 * time.Second,
			right: func() (string, error) {
				if log := run(h.T, h.c, "sh", "-c", "podman logs onprem-keepalived 2>&1"); strings.Count(log, "continue keepalived") <= i {
					return "", errors.New("nobody has noticed")
				}
				if out := sh(h.T, h.c, vrrp+`grep -h ^State: "/proc/$main/status" "/proc/$vrrp/status"`); strings.Contains(out, "T (stopped)") {
					return "", fmt.Errorf("states %q", out)
				}
				return "continued; " + story(h.o, since), nil
			},
		}.run(h.T)
		time.Sleep(5 * time.Second) // a master that missed an advert would have taken over
		if got := story(h.o, since); got != "bootstrap" {
			h.Errorf("%s: %s", tt.fault, got)
		}
	}
}

// links takes the machine's link away and gives it back.
func (h *hostDrills) links() {
	var since time.Time
	drill{
		fault: "link down while VIP holder",
		inject: func() {
			since = time.Now()
			h.ip(h.c.Bootstrap, "link set eth0 down")
		},
		within: 10 * time.Second,
		right: func() (string, error) {
			now := h.o.Holders()
			if len(now) != 1 || now[0] == "bootstrap" {
				return "", fmt.Errorf("held by %v", now)
			}
			return story(h.o, since), nil
		},
	}.run(h.T)
	drill{
		fault: "link up again",
		inject: func() {
			since = time.Now()
			h.ip(h.c.Bootstrap, append([]string{"link set eth0 up"}, h.restored("eth0")...)...)
		},
		within: 15 * time.Second,
		right:  h.back(&since, "eth0"),
	}.run(h.T)
	h.noDoubles(since)
}

// renamed gives the VIP's interface another name, as long as names can be (K-06), and the old one
// back, in both ways that there are.
func (h *hostDrills) renamed() {
	const long = "enp0s31f6abcdef"
	var since time.Time
	drill{
		fault: "interface renamed while VIP holder (down, name, up)",
		inject: func() {
			since = time.Now()
			h.ip(h.c.Bootstrap, append([]string{"link set eth0 down", "link set eth0 name " + long, "link set " + long + " up"}, h.restored(long)...)...)
		},
		within: 20 * time.Second,
		right:  h.back(&since, long),
	}.run(h.T)
	h.noDoubles(since)
	drill{
		fault: "interface renamed while VIP holder and up",
		inject: func() {
			since = time.Now()
			h.ip(h.c.Bootstrap, "link set "+long+" name eth0")
		},
		within: 20 * time.Second,
		right:  h.back(&since, "eth0"),
	}.run(h.T)
	h.noDoubles(since)
}

// readdressed changes the machine's own address, in both orders.
func (h *hostDrills) readdressed() {
	const other = "192.0.2.12"
	for _, tt := range []struct {
		fault, want string
		change      []string
	}{
		{fault: "own address changed while VIP holder (add, then remove)", want: other,
			change: []string{"address add " + other + "/24 dev eth0", "address del " + own + "/24 dev eth0"}},
		{fault: "own address changed while VIP holder (remove, then add)", want: own,
			change: []string{"address del " + other + "/24 dev eth0", "address add " + own + "/24 dev eth0"}},
	} {
		var since time.Time
		drill{
			fault: tt.fault,
			inject: func() {
				since = time.Now()
				h.ip(h.c.Bootstrap, append(tt.change, "route replace default via 192.0.2.1")...)
			},
			within: 15 * time.Second,
			right: func() (string, error) {
				conf := run(h.T, h.c, "cat", "/etc/keepalived/keepalived.conf")
				if !strings.Contains(conf, "unicast_src_ip "+tt.want+"\n") {
					return "", fmt.Errorf("keepalived.conf is not of %s:\n%s", tt.want, conf)
				}
				return h.back(&since, "eth0")()
			},
		}.run(h.T)
		h.noDoubles(since)
	}
}

// toBridge does what a network plugin does at its start: the machine's addresses move from its
// interface to a bridge over it.
const toBridge = `
ip link add br-ex type bridge stp_state 0
ip link set br-ex address "$(cat /sys/class/net/eth0/address)" up
ip link set eth0 master br-ex
ip addr del 192.0.2.10/24 dev eth0
ip addr add 192.0.2.10/24 dev br-ex
ip addr del 2001:db8:1::10/64 dev eth0
ip addr add 2001:db8:1::10/64 dev br-ex nodad
ip route replace default via 192.0.2.1
`

// bridged holds K-11 and K-12: the interface under the VIP is put into a bridge, and the VIP
// follows the machine's address there, also while the API does not answer.
func (h *hostDrills) bridged() {
	must(h.T, h.c.Readyz(h.Context(), "hang"))
	var since time.Time
	drill{
		fault:  "interface moved into a bridge while VIP holder, API hung",
		inject: func() { since = time.Now(); sh(h.T, h.c, toBridge) },
		within: 5 * time.Second, // what K-11 asks for; without the move the VIP would be given up after 25 s
		right:  h.back(&since, "br-ex"),
	}.run(h.T)
	h.noDoubles(since)
	must(h.T, h.c.Readyz(h.Context(), "ok"))
}

// waits expects that the unit waits, or does not say ready, with all of these words in its status
// line.
func (h *hostDrills) waits(words ...string) (string, error) {
	out, err := h.c.VM.Run(h.Context(), "systemctl", "show", "--property=ActiveState,StatusText", chain.Unit)
	for _, w := range append(words, "ActiveState=activating\n") {
		if !strings.Contains(out, w) {
			return "", errors.Join(err, fmt.Errorf("%q lacks %q", out, w))
		}
	}
	_, text, _ := strings.Cut(out, "StatusText=")
	text, _, _ = strings.Cut(text, "\n")
	return text, nil
}

// back is right once both VIPs are on a link of the machine and nowhere else, and tells who had the
// IPv4 one in between.
func (h *hostDrills) back(since *time.Time, link string) func() (string, error) {
	return func() (string, error) {
		err := h.on(link)
		return story(h.o, *since), err
	}
}

// on expects both VIPs on a link of the machine, and nowhere else, with keepalived's word for it.
func (h *hostDrills) on(link string) error {
	for _, vip := range []netip.Addr{chain.APIVIP, chain.APIVIP6} {
		out, err := h.c.VM.Run(h.Context(), "ip", "-o", "address", "show", "to", vip.String())
		if err != nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, " "+link+" ") {
			return errors.Join(err, fmt.Errorf("%s is here: %q", vip, out))
		}
		if vip.Is4() && !strings.Contains(out, " vip\\") {
			return fmt.Errorf("no label: %q", out)
		}
	}
	text, err := h.c.VM.Run(h.Context(), "cat", "/run/onprem-infra/keepalived/status.json")
	if err != nil {
		return err
	}
	status, err := supervised.Decode([]byte(text))
	for name, i := range status.Instances {
		if i.State != supervised.Master {
			err = errors.Join(err, fmt.Errorf("%s is %s", name, i.State))
		}
	}
	return errors.Join(err, holders(h.o, "bootstrap"), holders(h.o6, "bootstrap"))
}

// noDoubles is noDoubles for both VIPs.
func (h *hostDrills) noDoubles(since time.Time) {
	h.Helper()
	noDoubles(h.T, h.o, since)
	noDoubles(h.T, h.o6, since)
}

// addresses are the machine's own, and its way out.
func (h *hostDrills) addresses(link string) []string {
	return append([]string{"address add " + own + "/24 dev " + link}, h.restored(link)...)
}

// restored is what a link that was down has lost.
func (h *hostDrills) restored(link string) []string {
	return []string{"address replace " + own6 + "/64 dev " + link + " nodad", "route replace default via 192.0.2.1"}
}

// talk opens a connection from the neighbour to an address of the foreign host, and returns a
// function that expects an answer on it.
func (h *hostDrills) talk(address netip.AddrPort) func(*testing.T) {
	listener, err := h.foreign.Listen(address.String())
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			if _, err := fmt.Fprintln(conn, lines.Text()); err != nil {
				return
			}
		}
	}()
	ctx, cancel := context.WithTimeout(h.Context(), 5*time.Second)
	defer cancel()
	var conn net.Conn
	if conn, err = h.c.Neighbour.Dial(ctx, "tcp", address.String()); err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { conn.Close() })
	answers := bufio.NewReader(conn)
	return func(t *testing.T) {
		t.Helper()
		if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(conn, "hello")
		if got, err := answers.ReadString('\n'); got != "hello\n" {
			t.Fatalf("the foreign host's connection is broken: %q %v", got, err)
		}
	}
}

func (h *hostDrills) mac(of *lab.Host) string {
	h.Helper()
	_, after, _ := strings.Cut(h.do(of, "ip", "-o", "link", "show", "eth0"), "link/ether ")
	mac, _, _ := strings.Cut(after, " ")
	return mac
}

// ip runs lines of ip(8) commands on a host.
func (h *hostDrills) ip(on *lab.Host, lines ...string) {
	h.Helper()
	for _, line := range lines {
		h.do(on, "ip", strings.Fields(line)...)
	}
}

func (h *hostDrills) do(on *lab.Host, name string, args ...string) string {
	h.Helper()
	out, err := on.Command(h.Context(), name, args...).CombinedOutput()
	if err != nil {
		h.Fatalf("%s %v on %s: %v\n%s", name, args, on.Name, err, out)
	}
	return string(out)
}
