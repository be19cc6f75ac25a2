//go:build remote

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bootfiles/item"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// TestWantedFiles holds that doctor asks for each file that the bootstrap machine fetches, and for none
// where another program installs the hosts.
func TestWantedFiles(t *testing.T) {
	file := describedBMC(t, "x", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}})
	described, findings := spec.Parse(file, readAll(t, file), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	sum := "@sha256:" + strings.Repeat("a", 64)
	for _, tt := range []struct {
		images map[string]string
		want   []string
	}{
		{nil, nil},
		{map[string]string{spec.IronicImage: "ironic", spec.IronicAgentImage: "agent", spec.OSImage: "https://images.example.com/os.raw" + sum}, []string{spec.OSImage}},
		{map[string]string{spec.IronicImage: "ironic", spec.IronicAgentKernel: "http://i/k" + sum, spec.IronicAgentInitramfs: "http://i/r" + sum,
			spec.OSImage: "https://images.example.com/os.raw" + sum}, []string{spec.IronicAgentKernel, spec.IronicAgentInitramfs, spec.OSImage}},
	} {
		described.Images = tt.images
		p, err := plan.Compile(described)
		if err != nil {
			t.Fatal(err)
		}
		for _, machine := range []bool{true, false} {
			f := wantedFiles(p, machine)
			if machine {
				if before := (&provisionHost{plan: p}).ready(); len(before.Files.Wanted) != len(f.Wanted) || !before.Machine {
					t.Errorf("%v: before DHCP is on %d files are checked, want %d", tt.images, len(before.Files.Wanted), len(f.Wanted))
				}
			}
			var got []string
			for _, one := range f.Wanted {
				got = append(got, one.Key)
			}
			if !slices.Equal(got, tt.want) || (f.Free != nil) != (machine && len(tt.want) > 0) {
				t.Errorf("%v on the machine %t: %q, want %q", tt.images, machine, got, tt.want)
			}
			if f.Free != nil {
				if free, err := f.Free(); err != nil || free == 0 {
					t.Errorf("%d bytes are free, %v", free, err)
				}
			}
		}
	}
}

// TestWantedFile_Here holds that a file which the bootstrap machine has fetched counts with its size there.
func TestWantedFile_Here(t *testing.T) {
	path := filepath.Join(t.TempDir(), "os.qcow2")
	i := item.Item{Name: spec.OSImage, Path: path}
	if f := wantedFile(i, true); f.Here != 0 {
		t.Errorf("it is not fetched, and has %d bytes", f.Here)
	}
	if err := os.WriteFile(path, make([]byte, 123), 0o600); err != nil {
		t.Fatal(err)
	}
	for machine, want := range map[bool]int64{true: 123, false: 0} {
		if f := wantedFile(i, machine); f.Here != want || f.Key != spec.OSImage {
			t.Errorf("on the machine %t: %+v, want %d bytes", machine, f, want)
		}
	}
}
