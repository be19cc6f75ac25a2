// Package disk reads the hints for the disk that a host is installed on, and holds them to what
// Ironic compares.
package disk

import (
	"regexp"

	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// Hints are the root disk hints of a host, with their places.
type Hints struct {
	texts      map[string]document.Scalar[string] // by the hint's name
	size       document.Scalar[int]
	rotational document.Scalar[bool]
}

// texts are the names of the hints that are texts.
func texts() []string {
	return []string{"deviceName", "hctl", "model", "vendor", "serialNumber", "wwn",
		"wwnWithExtension", "wwnVendorExtension"}
}

// Read reads the hints of an install-config, or of our own cluster.yaml, which is strict.
func Read(r *document.Reader, v document.Value, installConfig bool) Hints {
	d, o := Hints{texts: map[string]document.Scalar[string]{}}, r.Map(v)
	get := o.Get
	if installConfig {
		get = func(name string) document.Value { return r.Field(o, name) }
	} else {
		r.Known(o, append(texts(), "minSizeGigabytes", "rotational")...)
	}
	for _, name := range texts() {
		if s := r.Text(get(name)); s.Given {
			d.texts[name] = s
		}
	}
	d.size = r.Number(get("minSizeGigabytes"))
	d.rotational = grammar.Bool(r, get("rotational"))
	return d
}

// Values are the hints without their places.
func (d Hints) Values() rootdisk.Hints {
	t := func(name string) string { return d.texts[name].Value }
	hints := rootdisk.Hints{DeviceName: t("deviceName"), HCTL: t("hctl"), Model: t("model"),
		Vendor: t("vendor"), SerialNumber: t("serialNumber"), WWN: t("wwn"),
		WWNWithExtension: t("wwnWithExtension"), WWNVendorExtension: t("wwnVendorExtension"),
		MinSizeGigabytes: d.size.Value}
	if d.rotational.OK {
		hints.Rotational = &d.rotational.Value
	}
	return hints
}

// Given are hints that were not read from a file.
func Given(v rootdisk.Hints, path string) Hints {
	d := Hints{texts: map[string]document.Scalar[string]{}}
	for name, text := range map[string]string{"deviceName": v.DeviceName, "hctl": v.HCTL,
		"model": v.Model, "vendor": v.Vendor, "serialNumber": v.SerialNumber, "wwn": v.WWN,
		"wwnWithExtension":   v.WWNWithExtension,
		"wwnVendorExtension": v.WWNVendorExtension} {
		if text != "" {
			d.texts[name] = document.Given(text, document.Field(path+"."+name))
		}
	}
	if v.MinSizeGigabytes != 0 {
		d.size = document.Given(v.MinSizeGigabytes, document.Field(path+".minSizeGigabytes"))
	}
	return d
}

var (
	device = regexp.MustCompile(`^/dev/(disk/by-path/)?[^/\s]+$`)
	byPath = regexp.MustCompile(`^/dev/disk/by-path/`)
	hctl   = regexp.MustCompile(`^[0-9]+:[0-9]+:[0-9]+:[0-9]+$`)
)

// Check holds hints to what Ironic compares. The kernel numbers disks in the order in which it
// finds them, so that the name of a device may be another disk's after a boot.
func (d Hints) Check(r *document.Report) {
	for _, name := range texts() {
		s := d.texts[name]
		switch {
		case !s.OK:
		case s.Value == "":
			r.Errorf(s.At, "is empty, and no disk has that: write a value, or remove the hint")
		case name == "deviceName" && !device.MatchString(s.Value):
			r.Refuse(s, "is no name that metal3 takes: write /dev/NAME or "+
				"/dev/disk/by-path/NAME")
		case name == "deviceName" && !byPath.MatchString(s.Value):
			r.Warnf(s.At, "%s may be another disk after the next boot: write /dev/disk/by-path/"+
				"NAME, or another hint, such as serialNumber or wwn: onprem-infra hosts disks "+
				"lists the disks", document.Quote(s.Value))
		case name == "hctl" && !hctl.MatchString(s.Value):
			r.Refuse(s, "is no SCSI address: write four numbers, such as 0:0:0:0")
		}
	}
	if d.size.OK && d.size.Value < 1 {
		r.Errorf(d.size.At, "%d is no size of a disk: write 1 or more", d.size.Value)
	}
}
