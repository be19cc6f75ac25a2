package osimage

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	config "github.com/coreos/ignition/v2/config/v3_3"
	"github.com/vincent-petithory/dataurl"

	"github.com/onprem-infra/onprem-infra/test/need"
)

func TestLongBuild(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes minutes")
	}
	need.Root(t)
	need.Command(t, "debootstrap")
	image, err := Build(t.Context(), logger())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(image.Path)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := digest(image.Path)
	if err != nil || sum != image.SHA256 {
		t.Errorf("the image has the sum %s, %v, recorded is %s", sum, err, image.SHA256)
	}
	t.Logf("%s has %d MB", image.Path, info.Size()>>20)
}

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// TestDocument has Ignition's own reader accept the document without a warning.
func TestDocument(t *testing.T) {
	text, err := Document("worker-7", `a "b" %c`, "http://192.0.2.1:8088/")
	if err != nil {
		t.Fatal(err)
	}
	document, report, err := config.Parse(text)
	if err != nil || len(report.Entries) > 0 {
		t.Fatalf("%v, %v", err, report)
	}
	marker, err := dataurl.DecodeString(*document.Storage.Files[1].Contents.Source)
	if err != nil || string(marker.Data) != "a \"b\" %c\n" {
		t.Errorf("the marker is %q, %v", marker.Data, err)
	}
	if unit := *document.Systemd.Units[0].Contents; !strings.Contains(unit, `"http://192.0.2.1:8088/"`) {
		t.Errorf("the unit is %s", unit)
	}
}

// TestEmbed compares where GRUB's parts come to with the sectors that they name.
func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	boot, core, image := filepath.Join(dir, "boot"), filepath.Join(dir, "core"), filepath.Join(dir, "image")
	write := func(path string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(boot, bytes.Repeat([]byte{0xaa}, sector))
	write(core, bytes.Repeat([]byte{0xbb}, 3*sector-100))
	write(image, make([]byte, 2<<20))
	if err := embed(image, boot, core); err != nil {
		t.Fatal(err)
	}
	disk, err := os.ReadFile(image)
	if err != nil {
		t.Fatal(err)
	}
	first, rest := disk[:sector], disk[coreSector*sector:]
	if at := binary.LittleEndian.Uint64(first[0x5c:]); at != coreSector || first[439] != 0xaa || first[440] != 0 {
		t.Errorf("the first sector names %d, and ends with % x", at, first[430:450])
	}
	next, count := binary.LittleEndian.Uint64(rest[500:]), binary.LittleEndian.Uint16(rest[508:])
	if next != coreSector+1 || count != 2 || rest[3*sector-101] != 0xbb || rest[3*sector-100] != 0 {
		t.Errorf("the core names %d sectors at %d", count, next)
	}
	write(core, make([]byte, coreMost+1))
	if err := embed(image, boot, core); err == nil {
		t.Error("a core that is larger than its partition has no error")
	}
}
