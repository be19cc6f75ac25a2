// Package item lists what a phase needs to provision hosts: files of other servers,
// and files of container images with the places where images have them.
package item

import (
	"fmt"
	"path"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/programs"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Item is what hosts need: a file of another server, or files of a container image.
type Item struct {
	Name string // the key of the description
	From string // the text there

	Artifact artifact.Artifact // zero for an image
	Path     string            // of the artifact

	Wanted []Wanted // of the image
}

// Wanted is a file of an image.
type Wanted struct {
	container.Wanted
	To []string // its places
	// For is the purpose of the file for hosts. An image must have at least one file of each
	// purpose. A file with an empty purpose may be missing.
	For string
}

// Of are the items that a phase of a cluster fetches. The error is a finding about one of them.
func Of(p plan.Plan, phase provision.Phase) (items []Item, err error) {
	file := func(key, to string) error {
		a, err := artifact.Parse(p.Images[key])
		if err != nil {
			return finding(key, err)
		}
		if key == spec.OSImage && a.QCOW2() {
			to = layout.OSQcow2
		}
		items = append(items, Item{Name: key, From: p.Images[key], Artifact: a, Path: to})
		return nil
	}
	if image := p.Images[spec.IronicAgentImage]; image != "" {
		kernel, initramfs := path.Base(layout.AgentKernel), path.Base(layout.AgentInitramfs)
		items = append(items, Item{Name: spec.IronicAgentImage, From: image, Wanted: []Wanted{
			wanted(kernel, programs.Ramdisk(kernel), "the ramdisk's kernel", layout.AgentKernel),
			wanted(initramfs, programs.Ramdisk(initramfs), "the ramdisk", layout.AgentInitramfs),
		}})
	} else if err := file(spec.IronicAgentKernel, layout.AgentKernel); err != nil {
		return nil, err
	} else if err := file(spec.IronicAgentInitramfs, layout.AgentInitramfs); err != nil {
		return nil, err
	}
	if err := file(spec.OSImage, layout.OSRaw); err != nil {
		return nil, err
	}
	items = append(items, bootPrograms(p, phase))
	return items, nil
}

func wanted(name string, from []string, purpose string, to ...string) Wanted {
	return Wanted{container.Wanted{Name: name, From: from}, to, purpose}
}

// bootPrograms are those of iPXE, and the boot loader of virtual media.
func bootPrograms(p plan.Plan, phase provision.Phase) Item {
	needs := func(boots ...provision.Boot) bool {
		return slices.ContainsFunc(p.Provisioning.OfPhase(phase),
			func(h provision.Host) bool { return slices.Contains(boots, h.Boot) })
	}
	bios, uefi, media := "", "", ""
	if needs(provision.PXEBIOS) {
		bios = "iPXE for BIOS"
	}
	if needs(provision.PXEUEFI, provision.UEFIHTTP) {
		uefi = "iPXE for UEFI"
	}
	if needs(provision.VirtualMedia) {
		media = "the boot loader of virtual media"
	}
	program := func(of programs.Program, purpose string) Wanted {
		return wanted(of.Name, of.From, purpose, of.To()...)
	}
	return Item{Name: spec.IronicImage, From: p.Images[spec.IronicImage], Wanted: []Wanted{
		program(programs.BIOS(), bios), program(programs.X64(), uefi),
		program(programs.ARM64(), uefi),
		wanted(path.Base(layout.Loader), programs.Loader(), media,
			layout.Loader),
	}}
}

// Targets are the files of an item, whether they are there or not.
func (i Item) Targets() []string {
	if i.Path != "" {
		return []string{i.Path}
	}
	var all []string
	for _, w := range i.Wanted {
		all = append(all, w.To...)
	}
	return all
}

// Missing is a purpose for which an image has no file; empty if none is missing. has reports
// whether the image has the file of a Wanted, by its name.
func (i Item) Missing(has func(name string) bool) string {
	got := map[string]bool{}
	for _, w := range i.Wanted {
		got[w.For] = got[w.For] || has(w.Name)
	}
	for _, w := range i.Wanted {
		if w.For != "" && !got[w.For] {
			return w.For
		}
	}
	return ""
}

func finding(key string, err error) error {
	return fmt.Errorf("images.%s: %w", key, err)
}
