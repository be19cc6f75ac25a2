package memory

import (
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/release"
)

func TestBootstrap_Resume(t *testing.T) {
	tests := []struct {
		name     string
		remember []release.Memory
		reboot   bool
		want     release.State
	}{
		{name: "first start"},
		{name: "never ready", remember: []release.Memory{{}}},
		{name: "held", remember: []release.Memory{{SeenReady: true, Holding: true}}, want: release.Resume(true)},
		{name: "given up", remember: []release.Memory{{SeenReady: true, Holding: true}, {SeenReady: true}}, want: release.Resume(false)},
		{name: "taken back", remember: []release.Memory{{SeenReady: true}, {SeenReady: true, Holding: true}}, want: release.Resume(true)},
		{name: "after a reboot nothing is held", remember: []release.Memory{{SeenReady: true, Holding: true}}, reboot: true, want: release.Resume(false)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := Bootstrap{State: t.TempDir(), Run: t.TempDir()}
			for _, r := range tt.remember {
				for range 2 { // the same again changes nothing
					if err := m.Remember(r); err != nil {
						t.Fatal(err)
					}
				}
			}
			if tt.reboot {
				m.Run = t.TempDir()
			}
			if got, err := m.Resume(); err != nil || got != tt.want {
				t.Errorf("%+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

func TestBootstrap_SettledVIPs(t *testing.T) {
	m := Bootstrap{State: t.TempDir()}
	var logged strings.Builder
	log := slog.New(slog.NewTextHandler(&logged, nil))
	if vips := m.SettledVIPs(log); vips != nil || logged.Len() > 0 {
		t.Errorf("before the first: %v, logged %q", vips, logged.String())
	}
	want := []netip.Addr{netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")}
	if err := m.Settle(want); err != nil {
		t.Fatal(err)
	}
	if got := m.SettledVIPs(log); !slices.Equal(got, want) || logged.Len() > 0 {
		t.Errorf("%v, want %v; logged %q", got, want, logged.String())
	}
	if err := os.WriteFile(m.settled(), []byte(`["api.example.com"]`), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := m.SettledVIPs(log); got != nil || !strings.Contains(logged.String(), m.settled()) {
		t.Errorf("a broken file: %v, logged %q, want nothing and the file named", got, logged.String())
	}
}

func TestBootstrap_Nodes(t *testing.T) {
	m := Bootstrap{State: t.TempDir()}
	var logged strings.Builder
	log := slog.New(slog.NewTextHandler(&logged, nil))
	if nodes := m.Nodes(log); nodes != nil || logged.Len() > 0 {
		t.Errorf("before the first: %v, logged %q", nodes, logged.String())
	}
	nodes := []addr.Candidate{{Name: "m0", InternalIPs: []netip.Addr{netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("2001:db8::11")}}, {Name: "m1"}}
	if err := m.Keep(nodes); err != nil {
		t.Fatal(err)
	}
	if got := m.Nodes(log); !slices.EqualFunc(got, nodes, addr.Candidate.Equal) || logged.Len() > 0 {
		t.Errorf("%v, want %v; logged %q", got, nodes, logged.String())
	}
	if err := os.WriteFile(m.nodes(), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := m.Nodes(log); got != nil || !strings.Contains(logged.String(), m.nodes()) {
		t.Errorf("a broken file: %v, logged %q, want nothing and the file named", got, logged.String())
	}
}

// FuzzDecodeNodes holds that any file decodes as nodes that can be kept again, or not at all.
func FuzzDecodeNodes(f *testing.F) {
	f.Add([]byte(`[{"Name": "m0", "InternalIPs": ["192.0.2.11", "2001:db8::11"], "Annotated": ["192.0.2.5"]}, {"Name": "m1"}]`))
	f.Add([]byte(`[null, {"InternalIPs": ["", "fe80::1%eth0", "::ffff:192.0.2.1"]}]`))
	f.Add([]byte(`[{"InternalIPs": ["192.0.2"]}]`))
	f.Add([]byte(`{`))
	f.Add([]byte(``))
	f.Fuzz(func(t *testing.T, text []byte) {
		if vips, err := decodeList[netip.Addr](text); err != nil && vips != nil {
			t.Errorf("%q gives the VIPs %v beside %v", text, vips, err)
		}
		nodes, err := decodeList[addr.Candidate](text)
		if err != nil {
			if nodes != nil {
				t.Errorf("%q gives %v beside %v", text, nodes, err)
			}
			return
		}
		again, err := encodeList(nodes)
		if err != nil {
			t.Fatalf("%q cannot be kept again: %v", text, err)
		}
		if kept, err := decodeList[addr.Candidate](again); err != nil || !slices.EqualFunc(kept, nodes, addr.Candidate.Equal) {
			t.Errorf("%q reads as %v and, kept again, as %v (%v)", text, nodes, kept, err)
		}
		vip := netip.MustParseAddr("192.0.2.5")
		for _, n := range nodes {
			peer, ok := peer.First(n, vip, netip.Addr{}, []netip.Addr{vip}, []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")})
			if ok && (!peer.Is4() || peer == vip) {
				t.Errorf("%q makes %s a peer of %s", text, peer, vip)
			}
		}
	})
}
