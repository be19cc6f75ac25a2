package netboot

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/bootlog"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// read is what the reader makes of a server's log so far.
func read(s *server) (events []bootlog.Event) {
	var r bootlog.Reader
	for line := range strings.Lines(s.text()) {
		if e, ok := r.Line(time.Now(), strings.TrimSuffix(line, "\n")); ok {
			events = append(events, e)
		}
	}
	return events
}

// TestLog boots a host over IPv4 and reads the log: each stage is there, with the host's card.
func TestLog(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	n := network4("172.22.0.2", card(10))
	n.Authoritative = true
	s := serve(t, add(t, l, "server", "172.22.0.2/24"), n)
	h := add(t, l, "client", "172.22.0.10/24")
	w := openWire(t, h)
	write(t, s, "snponly.efi")
	offer := w.one(t, discover(t, card(10), firmware(7, "PXEClient:Arch:00007:UNDI:003001")...))
	w.one(t, request(t, offer))
	for _, want := range []string{"snponly.efi to ", "none.efi not found "} {
		name, _, _ := strings.Cut(want, " ")
		_, _ = fetch(h, netip.AddrPortFrom(n.Server, 69), name)
		s.await(t, want)
	}
	w.one(t, reboot(t, card(10), netip.MustParseAddr("10.1.2.3")))
	w.one(t, discover(t, card(10), firmware(27, "PXEClient:Arch:00027:UNDI:003001")...))
	s.await(t, "tags: "+provisioning.Unserved)
	w.ask(t, discover(t, card(99)), 0)
	s.await(t, "ignored")
	events := read(s)
	var got []bootlog.Kind
	for _, e := range events {
		if e.MAC != card(10) && !e.Ignored() {
			t.Errorf("%s is of %s", e.Kind, e.MAC)
		}
		got = append(got, e.Kind)
	}
	want := []bootlog.Kind{bootlog.Discover, bootlog.Offer, bootlog.Program, bootlog.Request,
		bootlog.Ack, bootlog.TFTPSent, bootlog.TFTPMissing, bootlog.Request, bootlog.Nak,
		bootlog.Discover, bootlog.NoProgram, bootlog.Offer, bootlog.Discover}
	if !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if class := events[0].Class; !strings.HasPrefix(class, "PXEClient:Arch:00007:") {
		t.Errorf("the first message is of %q", class)
	}
}

// TestLog6 is TestLog over IPv6.
func TestLog6(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	s := serve(t, add(t, l, "server", "fd00:22::2/64"), network6("fd00:22::2", card(10)))
	c := addClient6(t, l, "client", card(10))
	reply := c.one(t, request6(t, c.one(t, c.solicit(t, 1, firmware6(7, "PXEClient")...))))
	c.ask(t, rebind6(reply), 0)
	s.await(t, "DHCPREBIND")
	var got []bootlog.Kind
	wait(t, "the log of the last answer", func() bool {
		got = nil
		for _, e := range read(s) {
			if e.MAC != card(10) {
				t.Errorf("%s is of %s", e.Kind, e.MAC)
			}
			got = append(got, e.Kind)
		}
		return got[len(got)-1] == bootlog.Reply
	})
	want := []bootlog.Kind{bootlog.Solicit, bootlog.Advertise, bootlog.Program, bootlog.Request,
		bootlog.Reply, bootlog.Rebind, bootlog.Reply}
	if !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// write puts a file into the TFTP root.
func write(t *testing.T, s *server, name string) {
	t.Helper()
	path := filepath.Join(s.network.Paths.TFTP, name)
	if err := os.WriteFile(path, []byte("program"), 0o644); err != nil {
		t.Fatal(err)
	}
}
