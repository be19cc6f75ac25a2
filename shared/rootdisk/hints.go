package rootdisk

import (
	"fmt"
	"strings"
)

// Hints are a host's rootDeviceHints. All that are set must hold together.
type Hints struct {
	DeviceName         string // /dev/NAME, or a path below /dev/disk/by-path
	HCTL               string
	Model              string // a part of the model
	Vendor             string // a part of the vendor
	SerialNumber       string
	MinSizeGigabytes   int
	WWN                string
	WWNWithExtension   string
	WWNVendorExtension string
	Rotational         *bool
}

// None is whether no hint is set.
func (h Hints) None() bool { return h == Hints{} }

// String has the hints as a description has them.
func (h Hints) String() string {
	var words []string
	for _, hint := range h.texts() {
		words = append(words, hint.name+": "+hint.want)
	}
	if h.MinSizeGigabytes != 0 {
		words = append(words, fmt.Sprintf("minSizeGigabytes: %d", h.MinSizeGigabytes))
	}
	if h.Rotational != nil {
		words = append(words, fmt.Sprintf("rotational: %t", *h.Rotational))
	}
	return strings.Join(words, ", ")
}

// byPath is where the names of disks are that do not change from boot to boot.
const byPath = "/dev/disk/by-path/"

// textHint is a hint about a text: what is wanted, of which property, and how they compare.
type textHint struct {
	name, want string
	of         func(Disk) string
	meets      func(have, want string) bool
}

// texts are the hints about texts that are set. Ironic compares without regard to case. To it,
// deviceName is one of two properties.
func (h Hints) texts() (set []textHint) {
	device := textHint{"deviceName", h.DeviceName, func(d Disk) string { return d.Device }, equal}
	if strings.HasPrefix(h.DeviceName, byPath) {
		device.of = func(d Disk) string { return d.ByPath }
	}
	for _, hint := range []textHint{
		device,
		{"hctl", h.HCTL, func(d Disk) string { return d.HCTL }, equal},
		{"model", h.Model, func(d Disk) string { return d.Model }, contains},
		{"vendor", h.Vendor, func(d Disk) string { return d.Vendor }, contains},
		{"serialNumber", h.SerialNumber, func(d Disk) string { return d.Serial }, equal},
		{"wwn", h.WWN, func(d Disk) string { return d.WWN }, sameWWN},
		{"wwnWithExtension", h.WWNWithExtension,
			func(d Disk) string { return d.WWNWithExtension }, sameWWN},
		{"wwnVendorExtension", h.WWNVendorExtension,
			func(d Disk) string { return d.WWNVendorExtension }, sameWWN},
	} {
		if hint.want != "" {
			set = append(set, hint)
		}
	}
	return set
}

func equal(have, want string) bool { return plain(have) == plain(want) }

func contains(have, want string) bool { return strings.Contains(plain(have), plain(want)) }

// plain is a text as it is compared. The kernel puts an underscore where a disk has a space.
func plain(text string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), "_", " "))
}

// sameWWN compares world wide names. A BMC leaves out the prefix that the kernel writes.
func sameWWN(have, want string) bool { return bareWWN(have) == bareWWN(want) }

func bareWWN(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, prefix := range []string{"0x", "naa.", "eui.", "nvme."} {
		name = strings.TrimPrefix(name, prefix)
	}
	return strings.NewReplacer(":", "", "-", "", " ", "").Replace(name)
}

// verdict is what hints make of one disk: why it does not meet one, and the hints that cannot be
// judged because the inventory lacks the property.
type verdict struct {
	why    string
	unseen []string
}

// judge holds one disk to the hints. A disk with the kernel's name was seen from inside the host,
// where a property that is missing does not meet a hint.
func (h Hints) judge(d Disk) (v verdict) {
	refuse := func(form string, values ...any) verdict {
		return verdict{why: fmt.Sprintf(form, values...)}
	}
	for _, hint := range h.texts() {
		switch have := hint.of(d); {
		case have == "" && d.Device == "":
			v.unseen = append(v.unseen, hint.name)
		case !hint.meets(have, hint.want):
			return refuse("%s is %q", hint.name, have)
		}
	}
	switch least := int64(h.MinSizeGigabytes); {
	case least <= 0:
	case d.Bytes <= 0 && d.Device == "":
		v.unseen = append(v.unseen, "minSizeGigabytes")
	case d.Bytes/gib < least:
		return refuse("has %.1f GiB", float64(d.Bytes)/gib)
	}
	switch {
	case h.Rotational == nil:
	case d.Rotational == nil && d.Device == "":
		v.unseen = append(v.unseen, "rotational")
	case d.Rotational == nil:
		return refuse("rotational is unknown")
	case *d.Rotational != *h.Rotational:
		return refuse("rotational is %t", *d.Rotational)
	}
	return v
}
