package vrrp

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// published are IDs that running clusters of these names have.
var published = []struct {
	name         string
	api, ingress ID
}{
	{"vmware", 109, 124}, {"cnf10", 147, 2}, {"cnf11", 228, 147}, {"oc2-yw674", 1, 223}, {"ostest",
		14, 93}, {"mycluster", 74, 137},
	{"test", 13, 28}, {"prod", 2, 33}, {"dev", 180, 99}, {"kni1", 27, 154}, {"cluster", 5, 228},
}

func TestIDsPublished(t *testing.T) {
	for _, v := range published {
		api, ingress, err := IDs(v.name)
		if err != nil || api != v.api || ingress != v.ingress {
			t.Errorf("IDs(%q) = %d, %d, %v; want %d, %d", v.name, api, ingress, err, v.api,
				v.ingress)
		}
	}
	for name, sum := range map[string]uint8{"cnf10-dns": 157, "cnf11-dns": 238, "": 0} {
		if got := Fletcher8(name); got != sum {
			t.Errorf("Fletcher8(%q) = %d, want %d", name, got, sum)
		}
	}
}

func TestIDsClashBetweenClusters(t *testing.T) {
	ids := func(name string) [2]ID {
		api, ingress, _ := IDs(name)
		return [2]ID{api, ingress}
	}
	if ids("cnf10")[0] != ids("cnf11")[1] {
		t.Error("the API of cnf10 and the ingress of cnf11 no longer share ID 147")
	}
	if ids("ocp8") != ids("lab") || ids("ocp8") != [2]ID{51, 146} {
		t.Errorf("ocp8 %v and lab %v, want 51 and 146 for both", ids("ocp8"), ids("lab"))
	}
	if a, b := ids("ocp8"), ids("ocp9"); a == b || (a[0] != 51 && a[1] != 51) ||
		(b[0] != 51 && b[1] != 51) {
		t.Errorf("ocp8 %v and ocp9 %v, want 51 in both", a, b)
	}
}

// K-01: a checksum with a mask in place of the modulus gave IDs that VRRP does not have.
func TestIDsMaskedVariantDiffers(t *testing.T) {
	for _, v := range published {
		api, ingress, err := IDs(v.name)
		if wrongAPI, wrongIngress := pair(v.name, masked); err != nil || wrongAPI == api &&
			wrongIngress == ingress {
			t.Errorf("%s: the masked checksum also gives %d and %d (%v)", v.name, api, ingress, err)
		}
	}
}

func masked(s string) uint8 {
	var a, b uint8
	for i := range len(s) {
		a = (a + s[i]) & 0xf
		b = (b + a) & 0xf
	}
	return b<<4 | a
}

// K-01: whatever the name, the IDs are in range and differ. Bytes that are not ASCII are where
// 8-bit arithmetic wraps.
func TestIDsInRange(t *testing.T) {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 1_000_000 {
		name := make([]byte, 1+random.IntN(63))
		for j := range name {
			if name[j] = letters[random.IntN(len(letters))]; i%2 == 0 {
				name[j] = byte(random.IntN(256))
			}
		}
		api, ingress, err := IDs(string(name))
		if err != nil || api < 1 || api > 240 || ingress < 1 || ingress > 240 || api == ingress {
			t.Fatalf("IDs(%q) = %d, %d, %v", name, api, ingress, err)
		}
	}
}

func TestFletcher8WrapsAt8Bits(t *testing.T) {
	// 14 + 255 is 13 in 8 bits; in wider arithmetic 269 mod 15 would be 14.
	if got, want := Fletcher8("\x0e\xff"), uint8((14+13)%15<<4|13); got != want {
		t.Errorf("Fletcher8 = %#x, want %#x", got, want)
	}
}

// K-02: no ASCII name makes the two checksums equal, so a false one does.
func TestIDsBump(t *testing.T) {
	tests := []struct {
		name         string
		sum          func(string) uint8
		api, ingress ID
	}{
		{"equal", func(string) uint8 { return 7 }, 8, 9},
		{"equal at the top", func(string) uint8 { return 0xee }, 239, 240},
		{"zero", func(s string) uint8 { return uint8(strings.Count(s, "ingress")) }, 1, 2},
		{"different", func(s string) uint8 { return uint8(len(s)) }, 6, 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if api, ingress := pair("x", tt.sum); api != tt.api || ingress != tt.ingress {
				t.Errorf("pair = %d, %d; want %d, %d", api, ingress, tt.api, tt.ingress)
			}
		})
	}
}

func TestIDsWithoutName(t *testing.T) {
	if api, ingress, err := IDs(""); err == nil {
		t.Errorf("IDs of an empty name are %d and %d, want an error", api, ingress)
	}
}
