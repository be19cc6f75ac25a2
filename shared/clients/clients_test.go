package clients

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"
)

var (
	vip4 = netip.MustParseAddr("192.0.2.5")
	vip6 = netip.MustParseAddr("2001:db8::5")
)

// client is the nth one of a VIP.
func client(vip netip.Addr, n int) Client {
	a := netip.AddrFrom4([4]byte{198, 51, byte(n >> 8), byte(n)})
	if vip.Is6() {
		a = netip.MustParseAddr(fmt.Sprintf("2001:db8:1::%x", n+1))
	}
	return Client{Remote: netip.AddrPortFrom(a, uint16(40000+n)), Port: 6443}
}

func many(vip netip.Addr, from, to int) (list []Client) {
	for n := from; n < to; n++ {
		list = append(list, client(vip, n))
	}
	return list
}

func sorted(list []Client) []Client {
	slices.SortFunc(list, func(a, b Client) int { return a.Remote.Compare(b.Remote) })
	return list
}

func anyVIP(netip.Addr) bool { return true }

// link passes reports of rounds to a table, and loses some.
type link struct {
	t     *testing.T
	to    *Table
	now   time.Time
	loses func() bool
	bytes int
}

func (l *link) round(r *Reporter, now []Client) {
	l.t.Helper()
	l.now = l.now.Add(Every)
	for _, report := range r.Next(now) {
		if len(report) > longest {
			l.t.Fatalf("a report of %d bytes", len(report))
		}
		l.bytes += len(report)
		if l.loses != nil && l.loses() {
			continue
		}
		if err := l.to.Add(report, anyVIP, l.now); err != nil {
			l.t.Fatal(err)
		}
	}
}

// TestReports holds that a successor knows the clients of both families, new ones after a round and
// none of those that are gone, and that little is sent where nothing changes.
func TestReports(t *testing.T) {
	for _, vip := range []netip.Addr{vip4, vip6} {
		r, l := NewReporter(vip), &link{t: t, to: NewTable(), now: time.Unix(1, 0)}
		l.round(r, many(vip, 0, 500))
		if got := l.to.Known(vip, l.now); got != 500 {
			t.Fatalf("%v: %d known after a round", vip, got)
		}
		for range repeats {
			l.round(r, many(vip, 0, 500))
		}
		l.bytes = 0
		for range cycle {
			l.round(r, many(vip, 0, 500))
		}
		if whole := 500 * (1 + vip.BitLen()/8 + 4); l.bytes < whole || l.bytes > whole+cycle*2*(2+vip.BitLen()/8) {
			t.Errorf("%v: %d bytes in a cycle, want all once, %d", vip, l.bytes, whole)
		}
		want := many(vip, 100, 600)
		l.round(r, slices.Clone(want))
		if got := sorted(l.to.Take(vip, l.now)); !slices.Equal(got, sorted(want)) {
			t.Errorf("%v: %d taken, want %d", vip, len(got), len(want))
		}
		if got := l.to.Take(vip, l.now); len(got) != 0 {
			t.Errorf("%v: %d taken twice", vip, len(got))
		}
	}
}

// TestReports_Lost holds that reports which are lost cost a few rounds at most: a third of all are.
func TestReports_Lost(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	r, l := NewReporter(vip4), &link{t: t, to: NewTable(), now: time.Unix(1, 0)}
	l.loses = func() bool { return rnd.IntN(3) == 0 }
	for n := range 200 {
		l.round(r, many(vip4, n, n+1000))
	}
	for range 2 * cycle {
		l.round(r, many(vip4, 200, 1200))
	}
	l.loses = nil
	for range cycle {
		l.round(r, many(vip4, 200, 1200))
	}
	got := l.to.Take(vip4, l.now)
	for _, c := range many(vip4, 200, 1200) {
		if !slices.Contains(got, c) {
			t.Fatalf("%v is not known", c)
		}
	}
	if len(got) > 1050 {
		t.Errorf("%d are known, of them 1000 are there", len(got))
	}
}

// TestReports_Silent holds that a client which nobody reports any more is forgotten, and one that
// is reported in each cycle never.
func TestReports_Silent(t *testing.T) {
	table, now := NewTable(), time.Unix(1, 0)
	r := NewReporter(vip4)
	for _, report := range r.Next(many(vip4, 0, 10)) {
		if err := table.Add(report, anyVIP, now); err != nil {
			t.Fatal(err)
		}
	}
	if got := table.Take(vip4, now.Add(Life+1)); len(got) != 0 {
		t.Errorf("%d known after their life", len(got))
	}
	l := &link{t: t, to: table, now: now}
	for range 5 * int(Life/Every) {
		l.round(r, many(vip4, 0, 10))
	}
	if got := table.Take(vip4, l.now); len(got) != 10 {
		t.Errorf("%d known of 10 that are there", len(got))
	}
}

// TestReports_Bounds holds that neither side keeps more than the most, whatever the other one says,
// and that room comes back.
func TestReports_Bounds(t *testing.T) {
	r, l := NewReporter(vip6), &link{t: t, to: NewTable(), now: time.Unix(1, 0)}
	l.round(r, many(vip6, 0, Most+500))
	if got := l.to.Known(vip6, l.now); got != Most {
		t.Errorf("%d known, want %d", got, Most)
	}
	other := NewReporter(vip6)
	l.round(other, many(vip6, Most+500, Most+600))
	if got := l.to.Known(vip6, l.now); got != Most {
		t.Errorf("%d known with another holder's, want %d", got, Most)
	}
	l.now = l.now.Add(Life)
	if got := l.to.Known(vip6, l.now.Add(time.Second)); got != 0 {
		t.Errorf("%d known after their life", got)
	}
	l.round(other, many(vip6, Most+500, Most+700))
	if got := l.to.Take(vip6, l.now); len(got) != 200 {
		t.Errorf("%d known after the first ones' life, want 200", len(got))
	}
}

// TestAdd_Refuses holds that a report which is cut, changed or of a VIP that its sender cannot hold
// changes nothing.
func TestAdd_Refuses(t *testing.T) {
	good := NewReporter(vip4).Next(many(vip4, 0, 2))[0]
	table, now := NewTable(), time.Unix(1, 0)
	if err := table.Add(good, func(vip netip.Addr) bool { return vip != vip4 }, now); err == nil {
		t.Error("a report of a VIP that is not its sender's")
	}
	for name, change := range map[string]func([]byte) []byte{
		"empty":           func([]byte) []byte { return nil },
		"another version": func(b []byte) []byte { b[0]++; return b },
		"no family":       func(b []byte) []byte { b[1] = 5; return b },
		"cut":             func(b []byte) []byte { return b[:len(b)-1] },
		"no VIP":          func(b []byte) []byte { return b[:4] },
		"another word":    func(b []byte) []byte { b[6] = 2; return b },
		"multicast":       func(b []byte) []byte { b[7] = 224; return b },
		"the loopback":    func(b []byte) []byte { b[7] = 127; return b },
		"the VIP":         func(b []byte) []byte { copy(b[7:], vip4.AsSlice()); return b },
		"no port":         func(b []byte) []byte { b[11], b[12] = 0, 0; return b },
		"no port of ours": func(b []byte) []byte { b[13], b[14] = 0, 0; return b },
		"too long":        func(b []byte) []byte { return append(b, make([]byte, 1200)...) },
	} {
		if err := table.Add(change(slices.Clone(good)), anyVIP, now); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got := table.Known(vip4, now); got != 0 {
		t.Errorf("%d are known of refused reports", got)
	}
}

// TestReporter_Others holds that what is no client of the VIP is not reported.
func TestReporter_Others(t *testing.T) {
	r := NewReporter(vip4)
	for _, remote := range []string{"[2001:db8::1]:1", "127.0.0.1:1", "192.0.2.5:1", "198.51.100.1:0", "[::ffff:198.51.100.1]:1"} {
		if got := r.Next([]Client{{Remote: netip.MustParseAddrPort(remote), Port: 6443}}); len(got) != 0 {
			t.Errorf("%s is reported", remote)
		}
	}
}

func FuzzReport(f *testing.F) {
	f.Add(NewReporter(vip4).Next(many(vip4, 0, 3))[0])
	f.Add(NewReporter(vip6).Next(many(vip6, 0, 3))[0])
	f.Fuzz(func(t *testing.T, report []byte) {
		vip, entries, err := read(report)
		if err != nil {
			return
		}
		w := newWriter(vip)
		for _, e := range entries {
			w.add(e.Client, !e.gone)
		}
		if len(entries) > 0 && string(w.reports[0]) != string(report) {
			t.Errorf("% x is read and written as % x", report, w.reports[0])
		}
	})
}
