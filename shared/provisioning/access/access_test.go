package access

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
)

var at = time.Unix(1_700_000_000, 0)

func get(file string) Access {
	return Access{At: at, Client: netip.MustParseAddr("172.22.0.11"), Method: "GET", File: file, Status: 200, Bytes: 62914560, Took: 3200 * time.Millisecond}
}

func TestKind(t *testing.T) {
	for file, want := range map[string]Kind{
		"boot.ipxe": Script, "hosts/52-54-00-00-00-01.ipxe": Script, "pxelinux.cfg/52-54-00-00-00-01": Script,
		"8a2f7c1e-0000-4000-8000-000000000001/config": Script, "snponly.efi": Program, "arm64-efi/snponly.efi": Program, "undionly.kpxe": Program,
		"images/agent.kernel": Kernel, "8a2f/deploy_kernel": Kernel, "images/agent.initramfs": Ramdisk, "8a2f/deploy_ramdisk": Ramdisk,
		"images/os.raw": Image, "images/os.qcow2": Image, "agent_images/8a2f": Image, "images/os.raw.sha256": File,
		"redfish/boot-8a2f.iso": Media, "ilo/x": Media, "other": File, "": File,
	} {
		if got := get(file).Kind(); got != want {
			t.Errorf("%s is %s, want %s", file, got, want)
		}
	}
	a := get("images/agent.kernel")
	a.Method = "HEAD"
	b := get("images/agent.kernel")
	b.Broken = true
	c := b
	c.Status = 404
	if a.Kind() != Head || b.Kind() != Broken || c.Kind() != Refused {
		t.Errorf("%s, %s, %s", a.Kind(), b.Kind(), c.Kind())
	}
}

func TestAccess(t *testing.T) {
	several := Access{Client: netip.MustParseAddr("fd00:22::b"), TLS: true, Method: "GET", File: "redfish/a \"b\".iso", Status: 206, Bytes: 1, Broken: true, Count: 3}
	for want, a := range map[string]Access{
		`172.22.0.11 http GET "images/agent.kernel" 200, 62914560 bytes in 3.2s`:             get("images/agent.kernel"),
		`fd00:22::b https GET "redfish/a \"b\".iso" 206, 1 bytes in 0s broken in 3 requests`: several,
	} {
		if got := a.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	long := get(strings.Repeat("\x00", 9000))
	all, broken := events.Decode(events.Encode(events.Event{Source: events.HTTP, Kind: string(long.Kind()), Detail: long.String()}))
	if len(all) != 1 || broken != 0 {
		t.Errorf("a long name breaks its event: %d, %d", len(all), broken)
	}
}

// TestSum holds that the first request is an event at once, and what follows of its like one event
// each ten seconds.
func TestSum(t *testing.T) {
	var s Sum
	take := func(after time.Duration, want ...string) {
		t.Helper()
		all, missed := s.Take(at.Add(after))
		var got []string
		for _, a := range all {
			got = append(got, fmt.Sprint(a.File, " ", a.Bytes, " ", a.Count))
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") || missed != 0 {
			t.Errorf("after %s: %q, want %q (%d missed)", after, got, want, missed)
		}
	}
	s.Add(get("b"))
	s.Add(get("a"))
	take(0, "b 62914560 0", "a 62914560 0")
	for range 1000 {
		s.Add(get("a"))
	}
	take(9 * time.Second)
	take(Together, "a 62914560000 1000")
	s.Add(get("a"))
	take(Together + 9*time.Second)
	take(3*Together, "a 62914560 1")
	take(4*Together + time.Second)
	if len(s.open) != 0 {
		t.Errorf("%d are followed after all have ended", len(s.open))
	}
	other := get("a")
	other.Status = 404
	s.Add(get("a"))
	s.Add(other) // not the same
	take(5*Together, "a 62914560 0", "a 62914560 0")
}

// TestSum_Bounded holds that a client that asks for ever new files fills no memory, and hides no
// request for an image.
func TestSum_Bounded(t *testing.T) {
	var s Sum
	for i := range 100_000 {
		s.Add(get(fmt.Sprint(i)))
	}
	all, missed := s.Take(at)
	if len(all) != most || missed != 100_000-most || len(s.open) > most {
		t.Errorf("%d events, %d missed, %d followed", len(all), missed, len(s.open))
	}
	const image = "images/os.raw"
	for range 1000 {
		s.Add(get(image))
	}
	if all, missed = s.Take(at); len(all) != 1 || all[0].File != image || missed != 0 {
		t.Errorf("%d events for an image, %d missed", len(all), missed)
	}
	if s.Take(at.Add(-time.Hour)); len(s.open) != 1 {
		t.Errorf("after the clock was set back %d are followed", len(s.open))
	}
	if s.Take(at.Add(-2 * time.Hour)); len(s.open) != 0 {
		t.Errorf("after the clock was set back %d are followed", len(s.open))
	}
}
