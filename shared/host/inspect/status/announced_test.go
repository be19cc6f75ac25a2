package status_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	width "github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

type files = func(*spoken.Config, *spoken.Wish, *spoken.Status)

// announcer is a node of a cluster that announces its VIPs.
func announcer(t *testing.T, change files) *inspect.Inspector {
	t.Helper()
	p := fakehost.RoutedPlan(t)
	host := fakehost.New(t, p, fakehost.Announcer(p, change))
	host.Links = func() (addr.Snapshot, error) { return fakehost.Links("192.0.2.11/24"), nil }
	host.Adverts = func(context.Context, string, func(capture.Received)) error { return nil }
	host.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
		if strings.HasSuffix(name, "apps.ostest.example.com") {
			return p.VIPs.Ingress, nil
		}
		return p.VIPs.API, nil
	}
	host.Backends = func(context.Context) ([]haproxy.Stat, error) {
		return []haproxy.Stat{{Backend: haproxy.Masters, Server: "m0", Status: "UP", Address: netip.MustParseAddrPort("192.0.2.11:6443")}}, nil
	}
	return host
}

// TestInspect_Announced holds what is reported of a node that announces its VIPs, and its verdict.
func TestInspect_Announced(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change files
		level  judge.Level
		why    string // the first reason begins so
		text   string // somewhere in the report
	}{
		{"all is well", nil, judge.OK, "announced: 198.51.100.5 (api) by this host to 192.0.2.1, 192.0.2.2, 198.51.100.6 (ingress) by 192.0.2.12",
			"198.51.100.5 (api): announced to 192.0.2.1, 192.0.2.2, grade 4, announced"},
		{"one of two sessions", func(_ *spoken.Config, _ *spoken.Wish, s *spoken.Status) {
			s.Sessions[1] = spoken.Session{Peer: "192.0.2.2", State: "Active", Why: "Notification received", Code: "060A"}
		}, judge.Degraded, "the session with router 192.0.2.2 is Active: the last one ended by notification 6/10: BFD", "router 192.0.2.2 (AS 65102): Active"},
		{"no session", func(_ *spoken.Config, _ *spoken.Wish, s *spoken.Status) { s.Sessions = nil }, judge.Down, "this host has no session with any router", "not known"},
		{"left in order", func(_ *spoken.Config, _ *spoken.Wish, s *spoken.Status) {
			s.Left, s.Sessions, s.VIPs, s.Daemons = true, nil, nil, nil
		}, judge.OK,
			"this host leaves VIPs to others, and announces none", "speaker: it has released the VIPs"},
		{"silence", func(_ *spoken.Config, _ *spoken.Wish, s *spoken.Status) { s.At = s.At.Add(-time.Minute) }, judge.Degraded, "the speaker timed out", "nothing for 1m1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := status.Inspect(t.Context(), announcer(t, tt.change))
			text := r.Text(width.Width(100))
			if r.Verdict.Level != tt.level || !strings.HasPrefix(r.Verdict.Why[0], tt.why) || len(r.Unseen) > 0 || !strings.Contains(text, tt.text) {
				t.Errorf("%+v, unseen %q\n%s", r.Verdict, r.Unseen, text)
			}
			if strings.Contains(text, "PRIORITY") || strings.Contains(text, "keepalived") || r.BGP == nil || r.BGP.Rack != "192.0.2.0/24" {
				t.Errorf("%+v\n%s", r.BGP, text)
			}
			if encoded, err := json.Marshal(r); err != nil || !strings.Contains(string(encoded), `"bgp":{"asn":64512`) {
				t.Errorf("%s, %v", encoded, err)
			}
		})
	}
}

// TestInspect_AnnouncedByOthers holds what hosts report of VIPs that other hosts announce: one of no cluster
// cannot see them, and an arbiter is not to announce any.
func TestInspect_AnnouncedByOthers(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		level judge.Level
		why   string
	}{
		{"a plain host", nil, judge.Unknown, "it could not be seen whether a host announces the VIPs"},
		{"an arbiter", map[string]string{inspect.CoreDNSManifest: ""}, judge.OK, "other hosts announce the VIPs"},
	} {
		host := announcer(t, nil)
		host.Files.Root = t.TempDir()
		fakehost.Write(t, host.Files, tt.files)
		if r := status.Inspect(t.Context(), host); r.BGP != nil || r.Verdict.Level != tt.level || !strings.HasPrefix(r.Verdict.Why[0], tt.why) {
			t.Errorf("%s: %+v, %+v", tt.name, r.Verdict, r.BGP)
		}
	}
}

// TestInspect_AnnouncedAfar holds that a node which can hold no VIP by VRRP, as none is in its networks, is judged by
// what it announces.
func TestInspect_AnnouncedAfar(t *testing.T) {
	host := announcer(t, func(_ *spoken.Config, _ *spoken.Wish, s *spoken.Status) { s.Sessions = nil })
	fakehost.Write(t, host.Files, map[string]string{vip.AgreedDir + "/remote-worker": ""})
	if r := status.Inspect(t.Context(), host); !r.Remote || r.BGP == nil || r.Verdict.Level != judge.Down || !strings.HasPrefix(r.Verdict.Why[0], "this host has no session with any router") {
		t.Errorf("%+v, %+v", r.Verdict, r.BGP)
	}
}

// TestInspect_AnnouncedFiles holds what the files of a host decide: its rack's name, why it does not
// serve a VIP, a file that cannot be read, and that it leaves.
func TestInspect_AnnouncedFiles(t *testing.T) {
	host := announcer(t, nil)
	fakehost.Write(t, host.Files, map[string]string{
		spoken.RackFile: "elsewhere\n", spoken.RunDir + "/" + spoken.WishFile: "{",
		"/run/onprem-infra/keepalived/checks/said.json": `[{"check":"ingress","passes":false,"why":"refused"}]`,
	})
	r := status.Inspect(t.Context(), host)
	if r.BGP.Rack != "" || !strings.Contains(r.BGP.NoRack, `"elsewhere"`) || len(r.Unseen) != 1 || !strings.Contains(r.Unseen[0], "wish.json") {
		t.Errorf("%+v, unseen %q", r.BGP, r.Unseen)
	}
	if err := os.WriteFile(host.Files.Path(spoken.RunDir, spoken.LeaveFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if r = status.Inspect(t.Context(), host); !r.BGP.Speaker.Leaving || r.Verdict.Level != judge.OK {
		t.Errorf("%+v, %+v", r.BGP.Speaker, r.Verdict)
	}
	host = announcer(t, func(_ *spoken.Config, w *spoken.Wish, _ *spoken.Status) { w.Beat = w.Beat.Add(time.Second) })
	fakehost.Write(t, host.Files, map[string]string{"/run/onprem-infra/keepalived/checks/said.json": `[{"check":"ingress","passes":false,"why":"refused"},{"check":"lb","passes":true}]`})
	r = status.Inspect(t.Context(), host)
	if why := r.BGP.VIPs[1].Why; why != "the check ingress does not pass: refused" {
		t.Errorf("%q\n%s", why, r.Text(100))
	}
	fakehost.Write(t, host.Files, map[string]string{"/run/onprem-infra/keepalived/checks/unannounced.json": `[{"vip":"198.51.100.6","why":"the ingress router does not run here"}]`})
	if why := status.Inspect(t.Context(), host).BGP.VIPs[1].Why; why != "the ingress router does not run here" {
		t.Errorf("%q", why)
	}
}
