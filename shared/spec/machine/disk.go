package machine

import (
	"regexp"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// disk is the root disk hints of a host, with their places.
type disk struct {
	texts      map[string]document.Scalar[string] // by the hint's name
	size       document.Scalar[int]
	rotational document.Scalar[bool]
}

// hints are the names of the hints that are texts.
func hints() []string {
	return []string{"deviceName", "hctl", "model", "vendor", "serialNumber", "wwn",
		"wwnWithExtension", "wwnVendorExtension"}
}

func (f fields) disk(v document.Value) disk {
	d := disk{texts: map[string]document.Scalar[string]{}}
	f.o = f.Map(v)
	if !f.installConfig {
		f.Known(f.o, append(hints(), "minSizeGigabytes", "rotational")...)
	}
	for _, name := range hints() {
		if s := f.Text(f.get(name)); s.Given {
			d.texts[name] = s
		}
	}
	d.size = f.Number(f.get("minSizeGigabytes"))
	d.rotational = grammar.Bool(f.Reader, f.get("rotational"))
	return d
}

func (d disk) value() RootDisk {
	t := func(name string) string { return d.texts[name].Value }
	disk := RootDisk{DeviceName: t("deviceName"), HCTL: t("hctl"), Model: t("model"),
		Vendor: t("vendor"), SerialNumber: t("serialNumber"), WWN: t("wwn"),
		WWNWithExtension: t("wwnWithExtension"), WWNVendorExtension: t("wwnVendorExtension"),
		MinSizeGigabytes: d.size.Value}
	if d.rotational.OK {
		disk.Rotational = &d.rotational.Value
	}
	return disk
}

// givenDisk is a disk that was not read from a file.
func givenDisk(v RootDisk, path string) disk {
	d := disk{texts: map[string]document.Scalar[string]{}}
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

// check holds hints to what Ironic compares. The kernel numbers disks in the order in which it
// finds them, so that the name of a device may be another disk's after a boot.
func (d disk) check(r *document.Report) {
	for _, name := range hints() {
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
				"NAME, or another hint, such as serialNumber or wwn", document.Quote(s.Value))
		case name == "hctl" && !hctl.MatchString(s.Value):
			r.Refuse(s, "is no SCSI address: write four numbers, such as 0:0:0:0")
		}
	}
	if d.size.OK && d.size.Value < 1 {
		r.Errorf(d.size.At, "%d is no size of a disk: write 1 or more", d.size.Value)
	}
}
