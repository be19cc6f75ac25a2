package rootdisk

import (
	"slices"
	"strings"
	"testing"
)

func is(value bool) *bool { return &value }

// inventory is of a host with a pair of equal small disks, a large one, and a USB stick.
var inventory = []Disk{
	{Name: "Bay 1", Model: "SAMSUNG MZ7L3480", Vendor: "Samsung", Serial: "S1", WWN: "5002538F00000001",
		Bytes: 480e9, Rotational: is(false)},
	{Name: "Bay 2", Model: "SAMSUNG MZ7L3480", Vendor: "Samsung", Serial: "S2", WWN: "5002538F00000002",
		Bytes: 480e9, Rotational: is(false)},
	{Name: "Bay 3", Model: "ST8000NM000A", Vendor: "SEAGATE", Serial: "S3", Bytes: 8e12,
		Rotational: is(true)},
	{Name: "USB", Model: "Internal SD", Serial: "S4", Bytes: 2e9, Removable: true},
}

func names(disks []Disk) string {
	var all []string
	for _, d := range disks {
		all = append(all, d.Name)
	}
	return strings.Join(all, ",")
}

func TestChoose(t *testing.T) {
	for name, tt := range map[string]struct {
		hints    Hints
		fit      string
		tie      bool
		unjudged string
	}{
		"no hints: the smallest of at least 4 GiB": {Hints{}, "Bay 1,Bay 2,Bay 3", true, ""},
		"serial number":            {Hints{SerialNumber: "s2"}, "Bay 2", false, ""},
		"serial number is no part": {Hints{SerialNumber: "S"}, "", false, ""},
		"model is a part":          {Hints{Model: "st8000"}, "Bay 3", false, ""},
		"model as the kernel has":  {Hints{Model: "SAMSUNG_MZ7L3"}, "Bay 1,Bay 2", true, ""},
		"vendor is a part":         {Hints{Vendor: "seag"}, "Bay 3", false, ""},
		"size is in GiB":           {Hints{MinSizeGigabytes: 480}, "Bay 3", false, ""},
		"size that 480 GB has":     {Hints{MinSizeGigabytes: 447}, "Bay 1,Bay 2,Bay 3", true, ""},
		"wwn with the prefix":      {Hints{WWN: "0x5002538f00000002"}, "Bay 2", false, ""},
		"rotational":               {Hints{Rotational: is(true)}, "Bay 3", false, ""},
		"all hints hold together":  {Hints{Model: "SAMSUNG", SerialNumber: "S3"}, "", false, ""},
		"nothing meets the hints":  {Hints{SerialNumber: "S9"}, "", false, ""},
		"a name that no BMC knows": {Hints{DeviceName: "/dev/sda"}, "Bay 1,Bay 2,Bay 3,USB", true,
			"deviceName"},
		"an address no BMC knows": {Hints{HCTL: "0:0:0:0", SerialNumber: "S1"}, "Bay 1", false, "hctl"},
		"an unseen extension": {Hints{WWNVendorExtension: "0x1", SerialNumber: "S3"}, "Bay 3", false,
			"wwnVendorExtension"},
		"an unseen long name": {Hints{WWNWithExtension: "0x1", SerialNumber: "S3"}, "Bay 3", false,
			"wwnWithExtension"},
	} {
		got := tt.hints.Choose(inventory)
		if names(got.Fit) != tt.fit || tt.unjudged != strings.Join(got.Unjudged, ",") ||
			got.Tie != tt.tie || len(got.Fit)+len(got.Refused) != len(inventory) {
			t.Errorf("%s: fit %s (tie %t, unjudged %v, refused %v)", name, names(got.Fit), got.Tie,
				got.Unjudged, got.Refused)
		}
	}
}

// TestChoose_Edges holds what there is of no disk, of one, and of disks of which all hide the same.
func TestChoose_Edges(t *testing.T) {
	small, least := Disk{Name: "small", Bytes: 4*gib - 1}, Disk{Name: "least", Serial: "S1", Bytes: 4 * gib}
	c := Hints{}.Choose([]Disk{small, least})
	if d, ok := c.Chosen(); !ok || d.Name != "least" {
		t.Errorf("chosen %v, %t", d, ok)
	}
	if d, ok := c.RunnerUp(); ok {
		t.Errorf("behind the only disk comes %v", d)
	}
	if c = (Hints{SerialNumber: "S9"}).Choose([]Disk{least}); len(c.Refused) != 1 {
		t.Errorf("%+v", c)
	}
	if d, ok := c.Chosen(); ok {
		t.Errorf("chosen of none: %v", d)
	}
	c = Hints{HCTL: "0:0:0:0", WWNVendorExtension: "0x1"}.Choose([]Disk{least})
	if len(c.Fit) != 1 || len(c.Unjudged) != 2 {
		t.Errorf("%+v", c)
	}
	c = Hints{MinSizeGigabytes: 9}.Choose([]Disk{{Bytes: 8*gib + gib/2}})
	if len(c.Refused) != 1 || c.Refused[0].Why != "has 8.5 GiB" {
		t.Errorf("%+v", c.Refused)
	}
}

// TestChoose_KernelNames has an inventory from inside the host, which knows all.
func TestChoose_KernelNames(t *testing.T) {
	disks := []Disk{
		{Device: "/dev/sdb", ByPath: byPath + "pci-2", HCTL: "0:0:1:0", Bytes: 10 * gib},
		{Device: "/dev/sda", ByPath: byPath + "pci-1", HCTL: "0:0:0:0", Bytes: 10 * gib},
		{Device: "/dev/nvme0n1", ByPath: byPath + "pci-3", WWN: "eui.0025", Bytes: 8 * gib},
	}
	for name, tt := range map[string]struct {
		hints Hints
		want  string
	}{
		"no hints: smallest":         {Hints{}, "/dev/nvme0n1"},
		"several meet: first name":   {Hints{MinSizeGigabytes: 9}, "/dev/sda"},
		"name":                       {Hints{DeviceName: "/dev/sdb"}, "/dev/sdb"},
		"path":                       {Hints{DeviceName: byPath + "pci-2"}, "/dev/sdb"},
		"SCSI address":               {Hints{HCTL: "0:0:1:0"}, "/dev/sdb"},
		"world wide name of an NVMe": {Hints{WWN: "eui.0025", MinSizeGigabytes: 8}, "/dev/nvme0n1"},
	} {
		c := tt.hints.Choose(disks)
		if got, _ := c.Chosen(); got.Device != tt.want {
			t.Errorf("%s: chosen %s, want %s", name, got.Device, tt.want)
		}
	}
	if c := (Hints{Vendor: "x"}).Choose(disks); len(c.Fit) > 0 || len(c.Unjudged) > 0 {
		t.Errorf("a property that no disk has: %+v", c)
	}
	if next, ok := (Hints{MinSizeGigabytes: 9}).Choose(disks).RunnerUp(); !ok || next.Device != "/dev/sdb" {
		t.Errorf("the runner-up is %s", next.Device)
	}
}

func TestHint(t *testing.T) {
	twins := []Disk{{Name: "a", Model: "M 1", Serial: "X"}, {Name: "b", Model: "M 2", Serial: "X"},
		{Name: "c", Model: "M 1", Serial: "X"}}
	for i, want := range []string{"", `model: "M 2"`, ""} {
		if got := twins[i].Hint(twins); got != want {
			t.Errorf("%s: %q, want %q", twins[i].Name, got, want)
		}
	}
	if got := inventory[1].Hint(inventory); got != `serialNumber: "S2"` {
		t.Errorf("the hint is %q", got)
	}
	if got := inventory[3].String(); got != "USB Internal SD 1.9 GiB serial S4 (removable)" {
		t.Errorf("the disk is %q", got)
	}
	if got := inventory[2].String(); got != "Bay 3 ST8000NM000A 7450.6 GiB serial S3" {
		t.Errorf("the disk is %q", got)
	}
}

func FuzzHints(f *testing.F) {
	f.Add("/dev/sda", "Model", "0x5", "S1", 10, int64(480e9))
	f.Add(byPath, "_", "naa.", " ", -1, int64(-1))
	f.Fuzz(func(t *testing.T, device, model, wwn, serial string, size int, bytes int64) {
		hints := Hints{DeviceName: device, Model: model, WWN: wwn, SerialNumber: serial,
			MinSizeGigabytes: size}
		disks := append(slices.Clone(inventory), Disk{Name: "own", Device: device, ByPath: device,
			Model: model, WWN: wwn, Serial: serial, Bytes: bytes})
		c := hints.Choose(disks)
		if len(c.Fit)+len(c.Refused) != len(disks) {
			t.Errorf("%d disks fit and %d are refused of %d", len(c.Fit), len(c.Refused), len(disks))
		}
		// A disk that is what the hints ask for meets them, but for its size.
		own := disks[len(disks)-1]
		if v := hints.judge(own); v.why != "" && !strings.Contains(v.why, "GiB") {
			t.Errorf("%q refuses a disk with these properties: %s", hints, v.why)
		}
		_, _ = own.String(), own.Hint(disks)
	})
}
