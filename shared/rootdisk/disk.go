// Package rootdisk chooses the root disk of a host by hints as Ironic does, and explains the choice
// with the disks that were next.
package rootdisk

import (
	"fmt"
	"strconv"
	"strings"
)

// Disk is a disk of an inventory. An empty property is unseen: a BMC knows neither the kernel's
// names nor SCSI addresses.
type Disk struct {
	Name               string // for people: where the disk is
	Device             string // the kernel's name, such as /dev/sda
	ByPath             string // below /dev/disk/by-path
	HCTL               string // SCSI host, channel, target and LUN
	Model              string
	Vendor             string
	Serial             string
	WWN                string
	WWNWithExtension   string
	WWNVendorExtension string
	Bytes              int64
	Rotational         *bool // nil: unseen
	Removable          bool  // USB, or a card
	Volume             bool  // a RAID controller's, which hides its drives from the system
}

// gib is the unit in which Ironic counts a disk's size, whatever the hint's name says.
const gib = 1 << 30

// String is the disk for people: where it is, what it is, and its size.
func (d Disk) String() string {
	var words []string
	for _, word := range []string{d.Name, d.Device, d.Model} {
		if word != "" {
			words = append(words, word)
		}
	}
	if d.Bytes > 0 {
		words = append(words, fmt.Sprintf("%.1f GiB", float64(d.Bytes)/gib))
	}
	if d.Serial != "" {
		words = append(words, "serial "+d.Serial)
	}
	if d.Removable {
		words = append(words, "(removable)")
	}
	return strings.Join(words, " ")
}

// Hint is a hint for cluster.yaml that this disk alone meets among all, empty if there is none. Its
// value has quotes: YAML takes one of digits for a number.
func (d Disk) Hint(all []Disk) string {
	for _, offer := range []struct {
		name, value string
		of          func(Disk) string
	}{
		{"serialNumber", d.Serial, func(o Disk) string { return o.Serial }},
		{"wwn", d.WWN, func(o Disk) string { return o.WWN }},
		{"deviceName", d.ByPath, func(o Disk) string { return o.ByPath }},
		{"model", d.Model, func(o Disk) string { return o.Model }},
	} {
		same := 0
		for _, other := range all {
			if strings.Contains(strings.ToLower(offer.of(other)), strings.ToLower(offer.value)) {
				same++
			}
		}
		if offer.value != "" && same == 1 {
			return offer.name + ": " + strconv.Quote(offer.value)
		}
	}
	return ""
}
