//go:build remote

package main

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// onDisk is a node's disk below a directory, with these files.
func onDisk(t *testing.T, files map[string]string) node.Host {
	t.Helper()
	h := node.New(t.TempDir())
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(h.At(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(h.At(path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// TestAgreed holds what is read of what node-ip has chosen (K-19).
func TestAgreed(t *testing.T) {
	four, six, remote := vip.AgreedDir+"/ipv4", vip.AgreedDir+"/ipv6", vip.AgreedDir+"/remote-worker"
	for _, tt := range []struct {
		name   string
		files  map[string]string
		want   []netip.Addr
		remote bool
	}{
		{name: "nothing yet"},
		{name: "one family", files: map[string]string{four: "192.0.2.11\n"}, want: []netip.Addr{netip.MustParseAddr("192.0.2.11")}},
		{name: "both", files: map[string]string{four: "192.0.2.11", six: "2001:db8::11\n"}, want: []netip.Addr{netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("2001:db8::11")}},
		{name: "garbage and nothing", files: map[string]string{four: "eth0", six: ""}},
		{name: "a remote worker", files: map[string]string{remote: ""}, remote: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, remote, err := onDisk(t, tt.files).Agreed()
			if err != nil || remote != tt.remote || !slices.Equal(got, tt.want) {
				t.Errorf("%v, remote %t, %v; want %v, %t", got, remote, err, tt.want, tt.remote)
			}
		})
	}
	if _, _, err := onDisk(t, map[string]string{four + "/a": ""}).Agreed(); err == nil {
		t.Error("what cannot be read is taken for nothing")
	}
}

// TestUnservedFile holds what the supervisor reads.
func TestUnservedFile(t *testing.T) {
	h := onDisk(t, map[string]string{supervised.RunDir + "/status.json": ""})
	for _, tt := range []struct {
		instances []vrrp.InstanceName
		want      string
	}{
		{nil, ""}, {[]vrrp.InstanceName{"a-b_API_0", "a-b_API_1"}, "a-b_API_0\na-b_API_1\n"}, {nil, ""},
	} {
		if err := h.SetUnserved(tt.instances); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(h.At(supervised.RunDir, supervised.UnservedFile)); err != nil || string(text) != tt.want {
			t.Errorf("%q, %v; want %q", text, err, tt.want)
		}
	}
}

// TestTrackFiles holds that a check's state comes back as it was written, that a file which is lost
// in any way is written anew, and that such a one is nobody's health.
func TestTrackFiles(t *testing.T) {
	h := onDisk(t, nil)
	for _, fault := range []bool{false, true} {
		path := h.At(election.TrackFile(vrrp.CheckIngress, fault))
		for how, harm := range map[string]func(){
			"as it is":     func() {},
			"deleted":      func() { os.Remove(path) },
			"emptied":      func() { os.WriteFile(path, nil, 0o644) },
			"garbled":      func() { os.WriteFile(path, []byte("1 garbage"), 0o644) },
			"no directory": func() { os.RemoveAll(filepath.Dir(path)) },
		} {
			for _, passes := range []bool{true, false} {
				if err := h.Track(vrrp.CheckIngress, fault, passes); err != nil {
					t.Fatal(err)
				}
				if h.Passes(vrrp.CheckIngress, fault) != passes {
					t.Errorf("fault %t: it is not %t", fault, passes)
				}
			}
			harm()
			if h.Passes(vrrp.CheckIngress, fault) {
				t.Errorf("fault %t: %s, and it passes", fault, how)
			}
		}
	}
}

// TestMemory holds that what is kept comes back, and that what cannot be read ends nothing and is
// said.
func TestMemory(t *testing.T) {
	var logged strings.Builder
	log := slog.New(slog.NewTextHandler(&logged, nil))
	h := onDisk(t, map[string]string{filepath.Dir(nodestate.Path) + "/other": ""})
	if m := h.Memory(log); m.Open || logged.Len() > 0 {
		t.Errorf("without a file %+v: %s", m, logged.String())
	}
	node := member.Node{ControlPlane: true, Candidate: addr.Candidate{Name: "m1", InternalIPs: []netip.Addr{netip.MustParseAddr("192.0.2.11")}}}
	if err := h.Keep(nodestate.Memory{Open: true, BootstrapGone: true, Nodes: []member.Node{node}}); err != nil {
		t.Fatal(err)
	}
	if m := h.Memory(log); !m.Open || !m.BootstrapGone || len(m.Nodes) != 1 || !m.Nodes[0].Equal(node.Candidate) || !m.Nodes[0].ControlPlane {
		t.Errorf("%+v", m)
	}
	for _, garbage := range []string{"", "{", "[]", `{"open": 7}`, "\x00"} {
		logged.Reset()
		if err := os.WriteFile(h.At(nodestate.Path), []byte(garbage), 0o644); err != nil {
			t.Fatal(err)
		}
		if m := h.Memory(log); m.Open || len(m.Nodes) > 0 || !strings.Contains(logged.String(), nodestate.Path) {
			t.Errorf("%q makes %+v: %s", garbage, m, logged.String())
		}
	}
}

// TestBeat holds that each beat is another text.
func TestBeat(t *testing.T) {
	h := onDisk(t, map[string]string{supervised.RunDir + "/other": ""})
	seen := map[string]bool{}
	for beat := range uint64(5) {
		if err := h.Beat(beat); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(h.At(supervised.RunDir, "heartbeat"))
		if err != nil || seen[string(text)] || len(text) == 0 {
			t.Errorf("beat %d is %q, %v", beat, text, err)
		}
		seen[string(text)] = true
	}
}
