//go:build remote

package main

import (
	"context"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/podman"
)

// puller is podman. Of several programs that run what is in one image, one pulls at a time: podman
// would transfer the same layers to each of them.
type puller struct {
	*podman.Engine
	lock string // the file that they lock; empty if they need not
}

func (m *machine) puller() puller { return puller{podman.New(m.socket), m.pullLock} }

// Pull does nothing if another program has pulled the image meanwhile.
func (p puller) Pull(ctx context.Context, ref, authFile string) error {
	if p.lock == "" {
		return p.Engine.Pull(ctx, ref, authFile)
	}
	unlock, err := file.Lock(ctx, p.lock)
	if err != nil {
		return fmt.Errorf("pull image %s: %w", ref, err)
	}
	defer unlock()
	if present, err := p.HasImage(ctx, ref); err != nil || present {
		return err
	}
	return p.Engine.Pull(ctx, ref, authFile)
}
