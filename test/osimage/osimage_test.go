package osimage

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
