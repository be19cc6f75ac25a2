//go:build remote

package podman

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"github.com/containers/image/v5/docker/reference"
	"github.com/containers/image/v5/pkg/docker/config"
	"github.com/containers/image/v5/types"
	"github.com/containers/podman/v4/pkg/auth"
)

// credentials are what a file holds for one image's registry.
type credentials struct {
	file, registry string
	header         http.Header // for podman's service, which passes it on to the registry
	absent         bool        // the file does not exist
	none           bool        // the file has no entry for the registry
}

// readCredentials reads the file at each attempt, so that a fixed file is used.
func readCredentials(image, file string) (credentials, error) {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return credentials{}, fmt.Errorf("read the name of image %s: %w", image, err)
	}
	c := credentials{file: file, registry: reference.Domain(named)}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		c.absent = true
		return c, nil
	} else if err != nil {
		return c, fmt.Errorf("read registry credentials: %w", err)
	}
	sys := &types.SystemContext{AuthFilePath: file}
	found, err := config.GetCredentialsForRef(sys, named)
	if err != nil {
		return c, fmt.Errorf("read registry credentials from %s: %w", file, err)
	}
	c.none = found == types.DockerAuthConfig{}
	if c.header, err = auth.MakeXRegistryAuthHeader(sys, "", ""); err != nil {
		return c, fmt.Errorf("read registry credentials from %s: %w", file, err)
	}
	return c, nil
}

// refusals are the texts with which registries, and podman on their behalf, refuse a request.
var refusals = []string{
	"unauthorized", "authentication required", "invalid username/password",
	"access to the resource is denied", "403 (forbidden)",
}

// explain adds to a registry's refusal what to do. It never contains a secret.
func (c credentials) explain(err error) error {
	text := strings.ToLower(err.Error())
	for _, refusal := range refusals {
		if !strings.Contains(text, refusal) {
			continue
		}
		switch {
		case c.absent:
			return fmt.Errorf("registry %s wants credentials and there is no file %s: "+
				"create it, the next attempt reads it: %w", c.registry, c.file, err)
		case c.none:
			return fmt.Errorf("registry %s wants credentials and %s has none for it: "+
				"add them, the next attempt reads them: %w", c.registry, c.file, err)
		}
		return fmt.Errorf("registry %s refuses the credentials in %s: "+
			"fix them, the next attempt reads them: %w", c.registry, c.file, err)
	}
	return err
}
