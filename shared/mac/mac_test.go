package mac_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// TestParse_Spellings holds that all spellings of one address are one value, which prints in one
// way.
func TestParse_Spellings(t *testing.T) {
	want := mac.MAC{0x52, 0x54, 0, 0xab, 0xcd, 0xef}
	for _, text := range []string{
		"52:54:00:ab:cd:ef", "52-54-00-ab-cd-ef", "5254.00ab.cdef", "525400abcdef",
	} {
		for _, text := range []string{text, strings.ToUpper(text)} {
			if got, err := mac.Parse(text); err != nil || got != want || got.String() != "52:54:00:ab:cd:ef" {
				t.Errorf("%s: %v, %v", text, got, err)
			}
		}
	}
}

func TestParse_Refuses(t *testing.T) {
	for text, want := range map[string]error{
		"": mac.ErrNoMAC, "x": mac.ErrNoMAC, "52:54:00:12:34": mac.ErrNoMAC, "52:54:00:12:34:5": mac.ErrNoMAC,
		"52:54:00:12:34:56:78:9a": mac.ErrNoMAC, "52:54-00:12:34:56": mac.ErrNoMAC, "52540012345g": mac.ErrNoMAC,
		" 52:54:00:12:34:56": mac.ErrNoMAC, "52:54:00:12:34:56\n": mac.ErrNoMAC, "5254:0012:3456": mac.ErrNoMAC,
		"01:00:5e:00:00:01": mac.ErrNoCard, "ff:ff:ff:ff:ff:ff": mac.ErrNoCard, "00:00:00:00:00:00": mac.ErrNoCard,
		"33:33:00:00:00:01": mac.ErrNoCard, "02:00:00:00:00:00": nil, "00:00:00:00:00:01": nil,
	} {
		_, err := mac.ParseCard(text)
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
	if m, err := mac.Parse("01:00:5e:00:00:01"); err != nil || m.IsCard() {
		t.Errorf("a group's address: %v, %v", m, err)
	}
}

func TestText(t *testing.T) {
	var all []mac.MAC
	if err := json.Unmarshal([]byte(`["52-54-00-00-00-02", "52:54:00:00:00:01"]`), &all); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, mac.MAC.Compare)
	if out, err := json.Marshal(all); err != nil || string(out) != `["52:54:00:00:00:01","52:54:00:00:00:02"]` {
		t.Errorf("%s, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`["x"]`), &all); err == nil || !strings.Contains(err.Error(), `"x" is no MAC address: write`) {
		t.Error(err)
	}
}

// FuzzParse holds that whatever is read prints as what reads as the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"52:54:00:AB:cd:ef", "5254.00ab.cdef", "525400abcdef", "ff-ff-ff-ff-ff-ff", "::"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := mac.Parse(text)
		if err != nil {
			return
		}
		if again, err := mac.Parse(m.String()); err != nil || again != m || len(m.String()) != 17 {
			t.Errorf("%q is %s, then %s (%v)", text, m, again, err)
		}
	})
}
