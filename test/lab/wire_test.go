package lab

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/advert"
)

// receives reports whether a datagram from one host arrives at another, which listens on port 9.
func receives(t *testing.T, from, to *Host, address string) bool {
	t.Helper()
	listener, err := to.ListenPacket(":9")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := from.Dial(t.Context(), "udp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	buffer := make([]byte, 16)
	for range 20 { // the first ones may wait for ARP
		if _, err := conn.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		_ = listener.SetReadDeadline(time.Now().Add(25 * time.Millisecond))
		if _, _, err := listener.ReadFrom(buffer); err == nil {
			return true
		}
	}
	return false
}

// reaches waits until datagrams from one host arrive at another.
func reaches(t *testing.T, from, to *Host, address string) {
	t.Helper()
	for range 20 {
		if receives(t, from, to, address) {
			return
		}
	}
	t.Fatalf("%s does not reach %s at %s", from.Name, to.Name, address)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCut has hosts with static neighbours, so that a one-way cut cuts one way alone: ARP would
// need both.
func TestCut(t *testing.T) {
	l := New(t)
	hosts := []*Host{add(t, l, "a", "192.0.2.1/24"), add(t, l, "b", "192.0.2.2/24"), add(
		t, l, "c", "192.0.2.3/24",
	)}
	a, b, c := hosts[0], hosts[1], hosts[2]
	addresses := map[*Host]string{a: "192.0.2.1:9", b: "192.0.2.2:9", c: "192.0.2.3:9"}
	for i, h := range hosts {
		for _, other := range []*Host{hosts[(i+1)%3], hosts[(i+2)%3]} {
			reaches(t, h, other, addresses[other])
		}
	}
	for _, tt := range []struct {
		name string
		cut  func() error
		lost map[[2]*Host]bool // the first does not reach the second
	}{
		{"both ways", func() error {
			return a.Cut(Both)
		}, map[[2]*Host]bool{{a, b}: true, {b, a}: true, {a, c}: true, {c, a}: true}},
		{"what it says", func() error {
			return a.Cut(Out)
		}, map[[2]*Host]bool{{a, b}: true, {a, c}: true}},
		{"what it hears", func() error {
			return a.Cut(In)
		}, map[[2]*Host]bool{{b, a}: true, {c, a}: true}},
		{"between two", func() error {
			return a.CutFrom(b, Both)
		}, map[[2]*Host]bool{{a, b}: true, {b, a}: true}},
		{"between two, one way", func() error {
			return a.CutFrom(b, Out)
		}, map[[2]*Host]bool{{a, b}: true}},
		{"repaired", func() error { return nil }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must(t, tt.cut())
			for _, from := range hosts {
				for _, to := range hosts {
					if from != to &&
						receives(t, from, to, addresses[to]) == tt.lost[[2]*Host{from, to}] {
						t.Errorf("%s reaches %s: %t", from.Name, to.Name, tt.lost[[2]*Host{
							from, to,
						}])
					}
				}
			}
			must(t, a.Reconnect())
		})
	}
}

// count sends numbered datagrams and returns how often each number arrived, and how long the
// slowest took.
func count(t *testing.T, from, to *Host, n int) (arrived map[uint32]int, fastest time.Duration) {
	t.Helper()
	listener, err := to.ListenPacket(":9")
	must(t, err)
	defer listener.Close()
	conn, err := from.Dial(t.Context(), "udp", "192.0.2.2:9")
	must(t, err)
	defer conn.Close()
	sent := make([]time.Time, n)
	go func() {
		for i := range n {
			sent[i] = time.Now()
			_, _ = conn.Write(binary.BigEndian.AppendUint32(nil, uint32(i)))
			time.Sleep(time.Millisecond)
		}
	}()
	arrived, fastest = map[uint32]int{}, time.Hour
	buffer := make([]byte, 16)
	for {
		_ = listener.SetReadDeadline(time.Now().Add(time.Second))
		size, _, err := listener.ReadFrom(buffer)
		if err != nil {
			return arrived, fastest
		}
		if size != 4 {
			continue // a late one of receives
		}
		i := binary.BigEndian.Uint32(buffer)
		fastest = min(fastest, time.Since(sent[i]))
		arrived[i]++
	}
}

func TestSpoil(t *testing.T) {
	l := New(t)
	a, b := add(t, l, "a", "192.0.2.1/24"), add(t, l, "b", "192.0.2.2/24")
	reaches(t, a, b, "192.0.2.2:9")
	const n = 400
	for _, tt := range []struct {
		name string
		line Line
		good func(once, twice int, fastest time.Duration) bool
	}{
		{"loss", Line{Loss: 0.3, Way: Out, Seed: 1}, func(once, twice int, _ time.Duration) bool {
			return once > n/2 && once < n*9/10 && twice == 0
		}},
		{"the same loss again", Line{Loss: 0.3, Way: Out, Seed: 1}, func(
			once, twice int, _ time.Duration,
		) bool {
			return once > n/2 && once < n*9/10 && twice == 0
		}},
		{"loss the other way", Line{Loss: 0.9, Way: In, Seed: 1}, func(
			once, twice int, _ time.Duration,
		) bool {
			return once == n && twice == 0
		}},
		{"duplicates", Line{Duplicate: 0.5, Way: Out, Seed: 2}, func(
			once, twice int, _ time.Duration,
		) bool {
			return once+twice == n && twice > n/4
		}},
		{"delay", Line{Delay: 60 * time.Millisecond, Jitter: 20 * time.Millisecond, Way: Out}, func(
			once, _ int, fastest time.Duration,
		) bool {
			return once == n && fastest >= 60*time.Millisecond
		}},
		{"good", Line{}, func(once, twice int, fastest time.Duration) bool {
			return once == n && twice == 0 && fastest < 60*time.Millisecond
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must(t, a.Spoil(tt.line))
			reaches(t, a, b, "192.0.2.2:9")
			arrived, fastest := count(t, a, b, n)
			times := map[int]int{}
			for _, k := range arrived {
				times[k]++
			}
			if !tt.good(times[1], times[2], fastest) {
				t.Errorf("of %d arrived %v, the fastest after %v", n, times, fastest)
			}
		})
	}
	for _, bad := range []Line{{Loss: 1.1}, {Duplicate: -1}, {Delay: -1}} {
		if err := a.Spoil(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestSpoilCarries has a connection send offloaded segments and checksums over a wire with faults
// that is also cut.
func TestSpoilCarries(t *testing.T) {
	l := New(t)
	a, b := add(t, l, "a", "192.0.2.1/24"), add(t, l, "b", "192.0.2.2/24")
	listener, err := b.Listen(":7")
	must(t, err)
	defer listener.Close()
	const size = 4 << 20
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = conn.Write(make([]byte, size))
			conn.Close()
		}
	}()
	must(t, a.Spoil(Line{Delay: time.Millisecond}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, err := a.Dial(ctx, "tcp", "192.0.2.2:7")
	must(t, err)
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if text, err := io.ReadAll(conn); err != nil || len(text) != size {
		t.Fatalf("%d bytes of %d: %v", len(text), size, err)
	}
	must(t, a.Cut(Both))
	if receives(t, a, b, "192.0.2.2:9") {
		t.Error("a spoilt wire cannot be cut")
	}
	must(t, a.Spoil(Line{}))
	if receives(t, a, b, "192.0.2.2:9") {
		t.Error("a wire that is good again is cut no more")
	}
	must(t, a.Reconnect())
	if !receives(t, a, b, "192.0.2.2:9") {
		t.Error("the wire is not repaired")
	}
}

// TestAdverts sends adverts of both families, and other packets.
func TestAdverts(t *testing.T) {
	l := New(t)
	a, err := l.Add(
		"a", netip.MustParsePrefix("192.0.2.1/24"), netip.MustParsePrefix("2001:db8::1/64"),
	)
	must(t, err)
	b, err := l.Add(
		"b", netip.MustParsePrefix("192.0.2.2/24"), netip.MustParsePrefix("2001:db8::2/64"),
	)
	must(t, err)
	for _, address := range []string{"192.0.2.2:9", "[2001:db8::2]:9"} {
		reaches(t, a, b, address)
	}
	adverts, err := l.Adverts()
	must(t, err)
	begin := time.Now()
	send := func(network, address string, body ...byte) {
		t.Helper()
		must(t, a.Do(func() error {
			conn, err := net.Dial(network, address)
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = conn.Write(body)
			return err
		}))
	}
	send("ip4:112", "192.0.2.2", 0x21, 51, 70, 1, 0, 1, 0, 0, 192, 0, 2, 5, 0, 0, 0, 0, 0, 0, 0, 0)
	send("ip4:112", "192.0.2.2", 0x31, 52, 0, 1, 0, 10, 0, 0, 192, 0, 2, 5)
	// of another type, and before the last advert: it has been read when that one has
	send("ip4:112", "192.0.2.2", 0x22, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	send(
		"ip6:112", "2001:db8::2",
		append([]byte{0x31, 53, 99, 1, 0, 10, 0, 0}, net.ParseIP("2001:db8::5")...)...,
	)
	reaches(t, a, b, "192.0.2.2:9")
	want := []Advert{
		{
			From: netip.MustParseAddr("192.0.2.1"), To: netip.MustParseAddr("192.0.2.2"), ID: 51,
			Priority: 70,
		},
		{From: netip.MustParseAddr("192.0.2.1"), To: netip.MustParseAddr("192.0.2.2"), ID: 52},
		{
			From: netip.MustParseAddr("2001:db8::1"), To: netip.MustParseAddr("2001:db8::2"),
			ID: 53, Priority: 99,
		},
	}
	// Stop drops what waits to be read.
	for end := time.Now().Add(10 * time.Second); len(adverts.So()) < len(want) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	got := adverts.Stop()
	if len(got) != len(want) {
		t.Fatalf("heard %+v, want %d adverts", got, len(want))
	}
	for i := range got {
		if at := got[i].At; at.Before(begin.Add(-time.Second)) || at.After(time.Now()) {
			t.Errorf("advert %d at %v", i, at)
		}
		if want[i].At, want[i].Bytes = got[i].At, got[i].Bytes; got[i] != want[i] {
			t.Errorf("advert %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestReadAdvert passes the reader frames that are too short.
func TestReadAdvert(t *testing.T) {
	whole := make([]byte, 14+20+16)
	binary.BigEndian.PutUint16(whole[12:], unix.ETH_P_IP)
	whole[14], whole[17], whole[23], whole[34] = 0x45, 20+16, advert.Protocol, 0x21
	if _, ok := readAdvert(whole); !ok {
		t.Fatal("a whole one is not read")
	}
	for n := range whole {
		if _, ok := readAdvert(whole[:n]); ok {
			t.Errorf("%d bytes of %d are read", n, len(whole))
		}
	}
}

// TestPlug connects a link that the caller makes: what is on its other end reaches the hosts.
func TestPlug(t *testing.T) {
	l := New(t)
	host, err := l.Add("a", netip.MustParsePrefix("192.0.2.1/24"))
	must(t, err)
	other, err := l.Add("b", netip.MustParsePrefix("198.51.100.1/24"))
	must(t, err)
	must(t, l.Plug("extra", func(link string) error {
		return exec.Command("ip", "link", "add", link, "type", "veth", "peer", "name", "eth1", "netns", other.namespace).Run()
	}))
	must(t, ipBatch(other.namespace, "address add 192.0.2.2/24 dev eth1", "link set eth1 up"))
	reaches(t, other, host, "192.0.2.1:9")
	if err := l.Plug("none", func(string) error { return nil }); err == nil {
		t.Error("a link that is not there is plugged in")
	}
}

// TestCarrier takes the carriers of a host's cards, which keep their addresses.
func TestCarrier(t *testing.T) {
	l, second := New(t), New(t)
	host, err := l.Add("a", netip.MustParsePrefix("192.0.2.1/24"))
	must(t, err)
	must(t, host.Wire(second, "eth1", [6]byte{0x52, 0x54, 0, 0, 0, 1}))
	must(t, ipBatch(host.namespace, "address add 198.51.100.1/24 dev eth1"))
	for card, at := range map[string]*Lab{"eth0": l, "eth1": second} {
		for _, up := range []bool{false, true} {
			must(t, host.Carrier(at, card, up))
			deadline, text := time.Now().Add(5*time.Second), ""
			for text == "" || strings.Contains(text, "NO-CARRIER") == up && time.Now().Before(deadline) {
				out, err := host.Command(t.Context(), "ip", "address", "show", card).CombinedOutput()
				must(t, err)
				text = string(out)
			}
			if strings.Contains(text, "NO-CARRIER") == up || !strings.Contains(text, "inet ") {
				t.Errorf("%s, up: %v\n%s", card, up, text)
			}
		}
	}
	if host.Carrier(l, "eth7", true) == nil {
		t.Error("a card that is not there has a carrier")
	}
}
