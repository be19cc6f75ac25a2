package item

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func image(name string) string {
	return "https://images.example.com/" + name + "@sha256:" + strings.Repeat("0a", 32)
}

func examplePlan(boot provision.Boot) plan.Plan {
	return plan.Plan{
		Images:       map[string]string{spec.IronicImage: "r/ironic:1", spec.IronicAgentImage: "r/agent:1", spec.OSImage: image("os.raw.gz")},
		Provisioning: &provision.Plan{Hosts: []provision.Host{{Phase: provision.Bootstrap, Boot: boot}, {Phase: provision.Cluster, Boot: provision.PXEBIOS}}},
	}
}

func changed(change func(map[string]string)) plan.Plan {
	p := examplePlan(provision.PXEUEFI)
	change(p.Images)
	return p
}

func TestOf(t *testing.T) {
	names := func(items []Item) (all []string) {
		for _, i := range items {
			all = append(all, fmt.Sprint(i.Name, " ", i.Targets()))
		}
		return all
	}
	programs := "ironicImage [" + layout.HTTP + "/undionly.kpxe " + layout.TFTP + "/undionly.kpxe " + layout.HTTP + "/snponly.efi " + layout.TFTP + "/snponly.efi " + layout.HTTP + "/arm64-efi/snponly.efi " + layout.TFTP + "/arm64-efi/snponly.efi " + layout.Loader + "]"
	got, err := Of(examplePlan(provision.PXEUEFI), provision.Bootstrap)
	if want := []string{"ironicAgentImage [" + layout.AgentKernel + " " + layout.AgentInitramfs + "]", "osImage [" + layout.OSRaw + "]", programs}; err != nil || !slices.Equal(names(got), want) {
		t.Errorf("%q, %v, want %q", names(got), err, want)
	}
	got, err = Of(changed(func(m map[string]string) {
		delete(m, spec.IronicAgentImage)
		m[spec.IronicAgentKernel], m[spec.IronicAgentInitramfs], m[spec.OSImage] = image("k"), image("i"), image("os.qcow2")
	}), provision.Bootstrap)
	if want := []string{"ironicAgentKernel [" + layout.AgentKernel + "]", "ironicAgentInitramfs [" + layout.AgentInitramfs + "]", "osImage [" + layout.OSQcow2 + "]", programs}; err != nil || !slices.Equal(names(got), want) {
		t.Errorf("%q, %v, want %q", names(got), err, want)
	}
	for key, change := range map[string]func(map[string]string){
		"osImage":              func(m map[string]string) { m[spec.OSImage] = "https://x/os.raw" },
		"ironicAgentKernel":    func(m map[string]string) { delete(m, spec.IronicAgentImage) },
		"ironicAgentInitramfs": func(m map[string]string) { delete(m, spec.IronicAgentImage); m[spec.IronicAgentKernel] = image("k") },
	} {
		if _, err := Of(changed(change), provision.Bootstrap); err == nil || !strings.HasPrefix(err.Error(), "images."+key+": it has no digest") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// TestMissing holds that an image needs a program for the hosts of this machine, and no other.
func TestMissing(t *testing.T) {
	missing := func(boot provision.Boot, has ...string) string {
		return bootPrograms(examplePlan(boot), provision.Bootstrap).Missing(func(name string) bool { return slices.Contains(has, name) })
	}
	for _, tt := range []struct {
		boot provision.Boot
		has  []string
		want string
	}{
		{provision.PXEUEFI, nil, "iPXE for UEFI"},
		{provision.PXEUEFI, []string{"undionly.kpxe"}, "iPXE for UEFI"},
		{provision.PXEUEFI, []string{"snponly.efi"}, ""},
		{provision.UEFIHTTP, []string{"arm64-efi/snponly.efi"}, ""},
		{provision.PXEBIOS, []string{"snponly.efi"}, "iPXE for BIOS"},
		{provision.PXEBIOS, []string{"undionly.kpxe"}, ""},
		{provision.VirtualMedia, []string{"snponly.efi"}, "the boot loader of virtual media"},
		{provision.VirtualMedia, []string{"esp.img"}, ""},
	} {
		if got := missing(tt.boot, tt.has...); got != tt.want {
			t.Errorf("%s with %v lacks %q, want %q", tt.boot, tt.has, got, tt.want)
		}
	}
	items, err := Of(examplePlan(provision.PXEUEFI), provision.Bootstrap)
	if err != nil || items[0].Missing(func(name string) bool { return name == "agent.kernel" }) != "the ramdisk" {
		t.Errorf("a kernel alone is enough: %v", err)
	}
}
