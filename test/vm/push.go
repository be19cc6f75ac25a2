package vm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Push moves an image from the container storage of a machine that does not run to a registry,
// which it reaches from a host and trusts by a CA (PEM). It returns the image's digest there. With
// the last image the storage is empty.
func (m *Machine) Push(ctx context.Context, host *lab.Host, ca []byte, image, as string) (digest string, err error) {
	certs := filepath.Join(m.dir, "certs")
	if err := os.MkdirAll(certs, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(certs, "ca.crt"), ca, 0o644); err != nil {
		return "", err
	}
	const push = `nsenter --net="$NET" podman push --quiet --cert-dir "$DIR/certs" --digestfile "$DIR/certs/digest" "$IMAGE" "$AS"
podman rmi --force "$IMAGE"
`
	if err := run(m.step(ctx, podman+push, "NET="+host.Path(), "IMAGE="+image, "AS="+as, "NO_PROXY=*")); err != nil {
		return "", fmt.Errorf("push image %s: %w", image, err)
	}
	text, err := os.ReadFile(filepath.Join(certs, "digest"))
	return strings.TrimSpace(string(text)), err
}
