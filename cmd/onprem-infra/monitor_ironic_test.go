//go:build remote

package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/workload/reads"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// loaderOf is a file system with the list of modules of a GRUB for EFI; test/ironic has a real one.
func loaderOf(dir string) []byte {
	dir += "\x00"
	list := binary.LittleEndian.AppendUint64([]byte("mimg\x00\x00\x00\x00"), 24)
	list = binary.LittleEndian.AppendUint64(list, uint64(24+8+len(dir)))
	list = binary.LittleEndian.AppendUint32(list, 3)
	return append(binary.LittleEndian.AppendUint32(list, uint32(8+len(dir))), dir...)
}

// TestIronicNode holds that BMCs fetch virtual media from an address of the node that no other node
// gets, and what is reported of an image without a boot loader for them.
func TestIronicNode(t *testing.T) {
	config, _ := bareCluster(t)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	planOf := func(bmc string) plan.Plan {
		t.Helper()
		c, findings := spec.Parse("cluster.yaml", []byte(strings.Replace(string(text), "ipmi://198.51.100.3", bmc, 1)), spec.Knobs{})
		if findings.HasErrors() {
			t.Fatal(findings)
		}
		p, err := plan.Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	has := func(addresses ...string) (s addr.Snapshot) {
		l := addr.Link{Index: 2, Name: "eth0", Up: true}
		for _, a := range addresses {
			l.Addresses = append(l.Addresses, addr.Address{Prefix: netip.MustParsePrefix(a)})
		}
		s.Links = []addr.Link{l}
		return s
	}
	const media = "redfish-virtualmedia://198.51.100.3/redfish/v1/Systems/1"
	whole, empty, foreign := t.TempDir(), t.TempDir(), t.TempDir()
	for dir, content := range map[string][]byte{whole: loaderOf("/EFI/centos"), foreign: []byte("FAT")} {
		if err := os.WriteFile(filepath.Join(dir, "esp.img"), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		bmc    string
		links  addr.Snapshot
		copied string
		want   reads.Node
		fault  string
	}{
		"over the network": {"ipmi://198.51.100.3", has(), empty, reads.Node{}, ""},
		"a node with VIPs": {media, has("192.0.2.5/32", "192.0.2.6/32", "172.22.0.3/24", "192.0.2.21/24"), whole, reads.Node{Media: netip.MustParseAddr("192.0.2.21"), GRUB: "EFI/centos/grub.cfg"}, ""},
		"no address":       {media, has("172.22.0.3/24"), whole, reads.Node{}, "choose the address from which BMCs fetch virtual media"},
		"no loader":        {media, has("192.0.2.21/24"), empty, reads.Node{Media: netip.MustParseAddr("192.0.2.21")}, "images.ironicImage has no boot loader of virtual media"},
		"no GRUB":          {media, has("192.0.2.21/24"), foreign, reads.Node{Media: netip.MustParseAddr("192.0.2.21")}, "choose another ironicImage"},
	} {
		p := planOf(tt.bmc)
		got, err := ironicNode(p, tt.links, tt.copied)
		if got.Media != tt.want.Media || got.GRUB != tt.want.GRUB || tt.fault == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err != nil {
			continue
		}
		files, err := reads.Files(p, got)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		conf := ""
		for _, f := range files {
			if filepath.Base(f.Path) == "ironic.conf" {
				conf = string(f.Contents)
			}
		}
		wants := strings.Contains(conf, "external_http_url = https://192.0.2.21:6183\n") && strings.Contains(conf, "grub_config_path = EFI/centos/grub.cfg\n") && strings.Contains(conf, "bootloader = file://")
		if wants != got.Media.IsValid() || strings.Contains(conf, "external_http_url") != got.Media.IsValid() {
			t.Errorf("%s:\n%s", name, conf)
		}
	}
}

// publishing is a FAKE API with one ConfigMap of the bootstrap machine, which counts how often it is read.
type publishing struct {
	phases []string
	err    error
	reads  int
}

func (p *publishing) JSON(_ context.Context, _, path string, _, out any) (bool, error) {
	if !strings.HasSuffix(path, "/configmaps/"+notice.Handover) || p.err != nil || len(p.phases) == 0 {
		return false, p.err
	}
	phase := p.phases[min(p.reads, len(p.phases)-1)]
	p.reads++
	text, err := json.Marshal(map[string]any{"data": notice.EncodeHandover(notice.Progress{Phase: phase, Machine: "boot", Since: time.Now(), At: time.Now()})})
	return true, errors.Join(err, json.Unmarshal(text, out))
}

// TestUntilHandedOver holds that Ironic does not start beside a bootstrap machine that installs, whatever a
// person has applied, that a right that is missing is named and keeps nothing from starting, and that the first
// Ironic of a cluster gives such a machine time to appear.
func TestUntilHandedOver(t *testing.T) {
	config, _ := bareCluster(t)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := spec.Parse("cluster.yaml", text, spec.Knobs{})
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		api, log, begin := &publishing{phases: []string{"deploy", "announce", "address off", "unpause"}}, &strings.Builder{}, time.Now()
		if err := untilHandedOver(t.Context(), api, p, true, slog.New(slog.NewTextHandler(log, nil))); err != nil || api.reads != 4 || time.Since(begin) != 3*asks {
			t.Errorf("%v after %d reads and %v", err, api.reads, time.Since(begin))
		}
		if !strings.Contains(log.String(), `the bootstrap machine boot is in the phase \"announce\"`) {
			t.Error(log)
		}
		log.Reset()
		api.err = kube.Refused{}
		if err := untilHandedOver(t.Context(), api, p, true, slog.New(slog.NewTextHandler(log, nil))); err != nil || !strings.Contains(log.String(), "apply the objects of render --role=cluster") {
			t.Error(err, log)
		}
		for first, want := range map[bool]time.Duration{true: appears, false: 0} {
			begin := time.Now()
			if err := untilHandedOver(t.Context(), &publishing{}, p, first, slog.New(slog.DiscardHandler)); err != nil || time.Since(begin) != want {
				t.Errorf("no machine published anything, first %v: %v after %v, want %v", first, err, time.Since(begin), want)
			}
		}
	})
	p.Provisioning.Hosts = p.Provisioning.OfPhase("cluster")
	if err := untilHandedOver(t.Context(), &publishing{err: errors.New("asked")}, p, true, nil); err != nil {
		t.Errorf("it installs no host: %v", err)
	}
}
