package ramdisk

import (
	"log/slog"
	"os"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

func TestLongBuild(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes minutes")
	}
	need.Root(t)
	need.Command(t, "debootstrap")
	files, err := Build(t.Context(), logger())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{files.Kernel, files.Initramfs} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s has %d MB", path, info.Size()>>20)
	}
}

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }
