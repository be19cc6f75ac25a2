package bgpprobe_test

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/bgpprobe"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

const (
	own    = 64512
	leaf   = 65101
	silent = 3 * time.Second // at least
)

// commands are lines of FRR's configuration.
func commands(lines ...string) (all []frr.Command) {
	all = append(all, frr.Command{Text: "configure terminal", Section: true})
	for _, l := range lines {
		all = append(all, frr.Command{Text: l, Section: strings.HasPrefix(l, "router bgp")})
	}
	return append(all, frr.Command{Text: "end"})
}

// TestAsk holds each outcome against real FRR, over both families.
func TestAsk(t *testing.T) {
	l := lab.New(t)
	add := func(name string, number int) *lab.Host {
		h, err := l.Add(name, netip.MustParsePrefix(fmt.Sprintf("10.9.0.%d/24", number)), netip.MustParsePrefix(fmt.Sprintf("2001:db8:9::%d/64", number)))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	router, host, signed := add("router", 1), add("host", 2), add("signed", 3)
	for _, number := range []int{4, 5} { // addresses of the host that the router does not know, and knows by BFD
		if err := host.Give(netip.MustParsePrefix(fmt.Sprintf("10.9.0.%d/32", number))); err != nil {
			t.Fatal(err)
		}
	}
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) { // FRR resets sessions of IPv6 before it knows its own address there
		out, err := router.Command(t.Context(), "ip", "-6", "address", "show", "dev", "eth0", "scope", "link").Output()
		if err != nil || time.Since(begun) > 10*time.Second {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), "fe80") && !strings.Contains(string(out), "tentative") {
			break
		}
	}
	d := daemons.Start(t, router, true)
	lines := []string{fmt.Sprintf("router bgp %d", leaf), "bgp router-id 10.9.0.1", "no bgp default ipv4-unicast", "no bgp ebgp-requires-policy"}
	for _, a := range []string{"10.9.0.2", "2001:db8:9::2", "10.9.0.3", "2001:db8:9::3"} {
		lines = append(lines, fmt.Sprintf("neighbor %s remote-as %d", a, own), "neighbor "+a+" passive")
		if strings.HasSuffix(a, "3") {
			lines = append(lines, "neighbor "+a+" password s3cret")
		}
	}
	for _, a := range []string{"10.9.0.2", "10.9.0.3"} {
		lines = append(lines, "address-family ipv4 unicast", "neighbor "+a+" activate", "exit-address-family")
	}
	for _, a := range []string{"2001:db8:9::2", "2001:db8:9::3"} {
		lines = append(lines, "address-family ipv6 unicast", "neighbor "+a+" activate", "exit-address-family")
	}
	d.Apply(frr.BGP, commands(append(lines, "exit")...)...)
	four, six := netip.MustParseAddr("10.9.0.1"), netip.MustParseAddr("2001:db8:9::1")
	busy := regexp.MustCompile(`"bgpState":"(OpenSent|OpenConfirm|Clearing|Deleted)"`)
	ask := func(from *lab.Host, to netip.Addr, change func(*bgpprobe.Question)) (a message.Answer) {
		// On a busy machine a router may not have ended the last question yet, and refuses another.
		for begun := time.Now(); busy.MatchString(d.Show(frr.BGP, "show bgp neighbors json")); time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > 10*time.Second {
				t.Fatal("the router has not ended a question")
			}
		}
		q := bgpprobe.Question{Router: to, ASN: leaf, Own: message.Open{ASN: own, Hold: 9, Router: netip.MustParseAddr("10.9.0.77")}}
		if change != nil {
			change(&q)
		}
		err := from.Do(func() error { a = bgpprobe.Ask(t.Context(), q); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	password := func(text string) func(*bgpprobe.Question) {
		return func(q *bgpprobe.Question) { q.Password = secret.New(text) }
	}
	for _, tt := range []struct {
		name   string
		from   *lab.Host
		to     netip.Addr
		change func(*bgpprobe.Question)
		want   message.Outcome
		code   string
	}{
		{"it would", host, four, nil, message.Accepted, ""},
		{"it would, by IPv6", host, six, nil, message.Accepted, ""},
		{"whichever number", host, four, func(q *bgpprobe.Question) { q.ASN = 0 }, message.Accepted, ""},
		{"another number is expected", host, four, func(q *bgpprobe.Question) { q.ASN = 65999 }, message.Unlike, ""},
		{"a number of its own that is refused", host, four, func(q *bgpprobe.Question) { q.Own.ASN = 64513 }, message.Notified, "2/2"},
		{"one of four bytes", host, six, func(q *bgpprobe.Question) { q.Own.ASN = 4200000001 }, message.Notified, "2/2"},
		{"GTSM on one side that is near", host, four, func(q *bgpprobe.Question) { q.TTLSecurity = true }, message.Silent, ""},
		{"the password", signed, four, password("s3cret"), message.Accepted, ""},
		{"the password, by IPv6", signed, six, password("s3cret"), message.Accepted, ""},
		{"another password", signed, four, password("other"), message.Silent, ""},
		{"a password on the router alone", signed, four, nil, message.Silent, ""},
		{"a password on the host alone", host, four, password("s3cret"), message.Silent, ""},
		{"a password that no kernel takes", host, four, password(strings.Repeat("x", 81)), message.Unreachable, ""},
		{"a host that it does not know", host, four, func(q *bgpprobe.Question) { q.Source = netip.MustParseAddr("10.9.0.4") }, message.Closed, ""},
		{"no program", host, netip.MustParseAddr("10.9.0.3"), nil, message.Refused, ""},
		{"no host", host, netip.MustParseAddr("10.9.0.99"), nil, message.Unreachable, ""},
		{"no way", host, netip.MustParseAddr("192.0.2.99"), nil, message.Unreachable, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begun := time.Now()
			a := ask(tt.from, tt.to, tt.change)
			code := ""
			if a.Notification != nil {
				code = a.Notification.String()
			}
			if a.Outcome != tt.want || code != tt.code || time.Since(begun) > 9*time.Second || strings.Contains(a.Why, "s3cret") {
				t.Errorf("%+v after %v", a, time.Since(begun))
			}
			if a.Outcome == message.Accepted && (a.Open.ASN != leaf || a.Open.Router != netip.MustParseAddr("10.9.0.1")) {
				t.Errorf("%+v", a.Open)
			}
			if a.Outcome == message.Silent && time.Since(begun) < silent {
				t.Errorf("it is silent after %v", time.Since(begun))
			}
		})
	}
	text := d.Show(frr.BGP, "show bgp neighbors json")
	if strings.Contains(text, `"bgpState":"Established"`) || strings.Contains(text, `"connectionsEstablished":1`) {
		t.Error("a question has made a session")
	}
	if err := router.CutFrom(host, lab.Out); err != nil {
		t.Fatal(err)
	}
	if a := ask(host, four, nil); a.Outcome != message.Silent {
		t.Errorf("behind a filter: %+v", a)
	}
}

// TestAsk_Hostile holds that another server than BGP's costs a bounded time, and that the end of the
// context ends a question.
func TestAsk_Hostile(t *testing.T) {
	l := lab.New(t)
	a, errA := l.Add("a", netip.MustParsePrefix("10.9.0.1/24"))
	b, errB := l.Add("b", netip.MustParsePrefix("10.9.0.2/24"))
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	reply := []byte("HTTP/1.1 400 Bad Request\r\n\r\n")
	listener, err := a.Listen("10.9.0.1:179")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	replies := make(chan []byte, 1)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = c.Write(<-replies)
		}
	}()
	ask := func(ctx context.Context) (got message.Answer) {
		q := bgpprobe.Question{Router: netip.MustParseAddr("10.9.0.1"), Own: message.Open{ASN: bgp.ASN(own), Hold: 9, Router: netip.MustParseAddr("10.9.0.2")}}
		if err := b.Do(func() error { got = bgpprobe.Ask(ctx, q); return nil }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	replies <- reply
	if got := ask(t.Context()); got.Outcome != message.NoBGP || !strings.Contains(got.Why, "marker") {
		t.Errorf("HTTP: %+v", got)
	}
	open := message.Open{ASN: 7, Hold: 9, Router: netip.MustParseAddr("10.9.0.1")}.Encode()
	replies <- bytes.Repeat(open, 9)
	if got := ask(t.Context()); got.Outcome != message.NoBGP {
		t.Errorf("one OPEN after the other: %+v", got)
	}
	replies <- nil
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begun := time.Now()
	if ask(ctx); time.Since(begun) > 2*time.Second {
		t.Errorf("it ends %v after its context began", time.Since(begun))
	}
}
