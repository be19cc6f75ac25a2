package probe

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// registryBudget bounds one request to a registry, which may be far away.
const registryBudget = 5 * time.Second

// manifests are the forms in which a registry may have an image.
const manifests = "application/vnd.oci.image.index.v1+json, " +
	"application/vnd.oci.image.manifest.v1+json, " +
	"application/vnd.docker.distribution.manifest.list.v2+json, " +
	"application/vnd.docker.distribution.manifest.v2+json"

// Image requests an image's manifest from its registry, with the proxy and the CAs of the host, and
// without credentials: of a registry that requires some, only its presence is known.
func Image(ctx context.Context, reference string) error {
	host, path, ok := strings.Cut(reference, "/")
	if !ok || !strings.ContainsAny(host, ".:") && host != "localhost" {
		return fmt.Errorf("%q does not begin with the name of a registry", reference)
	}
	name, tag := path, "latest"
	if before, digest, ok := strings.Cut(path, "@"); ok {
		name, tag = before, digest
	} else if at := strings.LastIndexByte(path, ':'); at > strings.LastIndexByte(path, '/') {
		name, tag = path[:at], path[at+1:]
	}
	if before, _, tagged := strings.Cut(name, ":"); tagged {
		name = before
	}
	ctx, cancel := context.WithTimeout(ctx, registryBudget)
	defer cancel()
	request, err := http.NewRequestWithContext(
		ctx, http.MethodHead, fmt.Sprintf("https://%s/v2/%s/manifests/%s", host, name, tag), nil,
	)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", manifests)
	answer, err := (&http.Client{CheckRedirect: noRedirect}).Do(request)
	if err != nil {
		return plain(err)
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK, http.StatusUnauthorized, http.StatusForbidden, http.StatusTemporaryRedirect,
		http.StatusFound:
		return nil
	}
	return fmt.Errorf("its registry %s answers %s", host, answer.Status)
}
