package node

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestSpeaker holds what is read of a host, and that what is written is read by the speaker.
func TestSpeaker(t *testing.T) {
	s := Speaker{Root: t.TempDir()}
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if rack, err := s.Rack(); rack != "" || err != nil || s.Former().IsValid() {
		t.Errorf("nothing is there: %q, %v, %v", rack, err, s.Former())
	}
	put(s.Root+spoken.RackFile, "b\n")
	if rack, err := s.Rack(); rack != "b" || err != nil {
		t.Errorf("%q, %v", rack, err)
	}
	router := netip.MustParseAddr("192.0.2.10")
	config, wish := filepath.Join(s.Root, spoken.RunDir, spoken.ConfigFile), filepath.Join(s.Root, spoken.RunDir, spoken.WishFile)
	if err := s.Configure(spoken.Config{ASN: 64512, Router: router}); err != nil || s.Former() != router {
		t.Errorf("%v, %v", err, s.Former())
	}
	if err := s.Wish(spoken.Wish{Beat: time.Unix(7, 0)}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(wish)
	if w, errRead := spoken.Decode[spoken.Wish](text); err != nil || errRead != nil || w.Beat.Unix() != 7 {
		t.Errorf("%v, %v, %+v", err, errRead, w)
	}
	put(config, "half")
	if s.Former().IsValid() {
		t.Errorf("half a file: %v", s.Former())
	}
}
