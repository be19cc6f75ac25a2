//go:build remote

package podman

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/fakeline"
	"github.com/onprem-infra/onprem-infra/test/registry"
)

// supply is a real registry with an image, a line to it that can be made bad, and an engine with
// empty storage that trusts both.
type supply struct {
	*service
	*Engine
	registry *registry.Registry
	line     *fakeline.Line
	direct   string // the image, by the registry's own address
	image    string // the same, through the line
}

// The image has two layers of random bytes.
const (
	smallLayer = 256 << 10
	largeLayer = 4 << 20
)

func newSupply(t *testing.T) *supply {
	t.Helper()
	t.Parallel()
	return newSupplyIn(t, scratch(t))
}

func newSupplyIn(t *testing.T, dir string) *supply {
	t.Helper()
	s := &supply{registry: registry.Local(t)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.line = fakeline.Serve(listener, func(ctx context.Context) (net.Conn, error) {
		return s.registry.Dial(ctx, "tcp", s.registry.Address.String())
	})
	t.Cleanup(func() { s.line.Close() })
	s.direct, s.image = s.registry.Address.String()+"/two:latest", listener.Addr().
		String()+"/two:latest"

	s.service = newServiceIn(t, dir)
	for _, address := range []string{s.registry.Address.String(), listener.Addr().String()} {
		s.file(".config/containers/certs.d/"+address+"/ca.crt", s.registry.Cert)
	}
	for name, size := range map[string]int{"small": smallLayer, "large": largeLayer} {
		content := make([]byte, size)
		rand.Read(content)
		s.file("two/"+name, content)
	}
	s.file("two/Containerfile", []byte("FROM scratch\nCOPY small /small\nCOPY large /large\n"))
	if err := s.registry.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.run(
		nil, "build", "--quiet", "--isolation", "chroot", "--layers", "--tag", s.direct,
		s.dir+"/two",
	)
	s.run(nil, "push", "--quiet", s.direct)
	s.run(nil, "rmi", "--force", "--all")

	s.temporary = s.dir + "/temporary"
	if err := os.Mkdir(s.temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.Engine = New(s.service.uri())
	eventually(t, "reach the service", func() error {
		_, _, err := s.Inspect(
			t.Context(), "none",
		)
		return err
	})
	return s
}

func (s *supply) file(path string, content []byte) {
	s.t.Helper()
	path = filepath.Join(s.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// ensureImage pulls an image that is not present, and reports whether it did.
func ensureImage(ctx context.Context, e *Engine, image, authFile string) (pulled bool, err error) {
	present, err := e.HasImage(ctx, image)
	if err != nil || present {
		return false, err
	}
	if err := e.Pull(ctx, image, authFile); err != nil {
		return false, err
	}
	return true, nil
}

// ensure is ensureImage with the test's file of credentials.
func (s *supply) ensure(ctx context.Context, image string) (bool, error) {
	return ensureImage(ctx, s.Engine, image, s.dir+"/auth.json")
}

// clean holds that an ended pull leaves nothing but complete layers: no image, and no temporary
// file.
func (s *supply) clean() {
	s.t.Helper()
	if images := s.run(nil, "images", "--quiet", "--all"); images != "" {
		s.t.Errorf("storage has images: %q", images)
	}
	eventually(s.t, "clear up after a pull", func() error {
		left, err := os.ReadDir(s.temporary)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("%v is left", left)
		}
		return err
	})
}

// blobs are the requests for layers and configurations since a number of requests.
func (s *supply) blobs(since int) (blobs []string, total int) {
	s.t.Helper()
	requests, err := s.registry.Requests()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range requests[since:] {
		if strings.HasPrefix(r, "GET") && strings.Contains(r, "/blobs/") {
			blobs = append(blobs, r)
		}
	}
	return blobs, len(requests)
}

// TestPullIsCut cuts every connection in the middle of a layer: nothing incomplete counts as
// present, nothing is left over, and a later attempt completes the pull.
func TestPullIsCut(t *testing.T) {
	s := newSupply(t)
	s.line.Set(fakeline.Fault{Cut: smallLayer / 2})
	if pulled, err := s.ensure(t.Context(), s.image); pulled || err == nil ||
		!strings.HasPrefix(err.Error(), "pull image "+s.image+": ") {
		t.Errorf("ensureImage() over a line that is cut = %v, %v", pulled, err)
	}
	s.clean()
	s.line.Set(fakeline.Fault{})
	if pulled, err := s.ensure(t.Context(), s.image); !pulled || err != nil {
		t.Errorf("ensureImage() when the line is good again = %v, %v", pulled, err)
	}
}

// TestPullHangs has a registry that stops sending in the second layer: the attempt ends by itself,
// and the next one fetches only what is missing.
func TestPullHangs(t *testing.T) {
	s := newSupply(t)
	s.pullSilence = 2 * time.Second
	s.line.Set(fakeline.Fault{Hang: largeLayer / 2})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	within(t, 20*time.Second, "the end of a pull that hangs", func() {
		if pulled, err := s.ensure(ctx, s.image); pulled || err == nil ||
			!strings.Contains(err.Error(), "no progress for 2s") {
			t.Errorf("ensureImage() = %v, %v, want that nothing arrives", pulled, err)
		}
	})
	s.clean()
	_, before := s.blobs(0)
	s.line.Set(fakeline.Fault{})
	if pulled, err := s.ensure(t.Context(), s.image); !pulled || err != nil {
		t.Errorf("ensureImage() when the line is good again = %v, %v", pulled, err)
	}
	// The configuration and the layer that was not complete.
	if again, _ := s.blobs(before); len(again) != 2 {
		t.Errorf("fetched again: %v, want one layer of two", again)
	}
}

// TestPullIsSlow takes several times longer than a pull may make no progress.
func TestPullIsSlow(t *testing.T) {
	s := newSupply(t)
	s.pullSilence = 1500 * time.Millisecond
	s.line.Set(fakeline.Fault{Rate: largeLayer / 5})
	begin := time.Now()
	if pulled, err := s.ensure(t.Context(), s.image); !pulled || err != nil {
		t.Errorf("ensureImage() over a slow line = %v, %v", pulled, err)
	}
	if took := time.Since(begin); took < 2*s.pullSilence {
		t.Errorf("it took %s: the line was not slow", took)
	}
}

// TestPullEndsWithItsCaller stops a pull in the middle of a layer, as systemd stops a unit.
func TestPullEndsWithItsCaller(t *testing.T) {
	s := newSupply(t)
	ctx, cancel := context.WithCancel(t.Context())
	result := s.hang(ctx)
	cancel()
	within(t, time.Second, "the end after the caller's", func() {
		select {
		case err := <-result:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("ensureImage() = %v, want the caller's end", err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("ensureImage() does not end with its caller")
		}
	})
	s.clean()
}

// hang begins a pull that hangs in a layer.
func (s *supply) hang(ctx context.Context) <-chan error {
	s.t.Helper()
	s.line.Set(fakeline.Fault{Hang: largeLayer / 2})
	result := make(chan error, 1)
	go func() { _, err := s.ensure(ctx, s.image); result <- err }()
	eventually(s.t, "begin to store a layer", func() error {
		// podman 5 puts container_images_ before it
		files, err := filepath.Glob(s.temporary + "/*storage*/*")
		if err == nil && len(files) == 0 {
			err = errors.New("there is no temporary file")
		}
		return err
	})
	return result
}

// TestServiceEndsDuringPull kills podman's service: an answer that ends then is not complete.
func TestServiceEndsDuringPull(t *testing.T) {
	s := newSupply(t)
	result := s.hang(t.Context())
	s.cmd.Process.Kill()
	select {
	case err := <-result:
		if err == nil || !strings.Contains(err.Error(), s.image) {
			t.Errorf("ensureImage() = %v, want an error that names the image", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("ensureImage() does not end with the service")
	}
}

// TestPresentIsNeverPulled asks for a present image by every kind of name; the registry counts the
// requests.
func TestPresentIsNeverPulled(t *testing.T) {
	s := newSupply(t)
	if pulled, err := s.ensure(t.Context(), s.direct); !pulled || err != nil {
		t.Fatalf("ensureImage() = %v, %v, want it pulled", pulled, err)
	}
	name, _, _ := strings.Cut(s.direct, ":latest")
	digest := strings.TrimSpace(s.run(nil, "image", "inspect", "--format", "{{.Digest}}", s.direct))
	_, before := s.blobs(0)
	for _, image := range []string{s.direct, name, name + "@" + digest} {
		if pulled, err := s.ensure(t.Context(), image); pulled || err != nil {
			t.Errorf("ensureImage(%s) = %v, %v, want nothing pulled", image, pulled, err)
		}
	}
	if _, after := s.blobs(0); after != before {
		t.Errorf("%d requests to the registry for what is present", after-before)
	}
}

// TestCredentials goes from none to the right ones without a restart. Each error states what to do.
func TestCredentials(t *testing.T) {
	s := newSupply(t)
	if err := s.registry.Stop(); err != nil {
		t.Fatal(err)
	}
	s.registry.Login = true
	if err := s.registry.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	address := s.registry.Address.String()
	var printed []string
	for _, tt := range []struct{ name, file, want string }{
		{
			name: "no file",
			want: "registry " + address + " wants credentials and there is no file FILE",
		},
		{name: "nothing in the file for this registry", file: string(registry.Credentials(
			"registry.example", "x",
		)), want: "registry " + address + " wants credentials and FILE has none for it"},
		{name: "wrong", file: string(registry.Credentials(
			address, "swordfish",
		)), want: "registry " + address + " refuses the credentials in FILE"},
		{name: "right", file: string(registry.Credentials(address, registry.Password))},
	} {
		if tt.file != "" {
			s.file("auth.json", []byte(tt.file))
		}
		pulled, err := s.ensure(t.Context(), s.direct)
		if tt.want == "" {
			if !pulled || err != nil {
				t.Errorf("%s: ensureImage() = %v, %v, want it pulled", tt.name, pulled, err)
			}
			break
		}
		want := "pull image " + s.direct + ": " + strings.ReplaceAll(
			tt.want, "FILE", s.dir+"/auth.json",
		)
		if pulled || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: ensureImage() = %v, %v, want %s", tt.name, pulled, err, want)
			continue
		}
		printed = append(printed, err.Error())
	}
	if secret := regexp.MustCompile(
		"swordfish|hunter2|b3BlcmF0b3I6",
	); slices.ContainsFunc(printed, secret.MatchString) {
		t.Errorf("an error contains a secret: %q", printed)
	}
}
