package kubeconfig

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// mounted is a file as a container sees it that has it mounted: by its path there it is the same
// file, whatever becomes of the one on the host.
func mounted(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return opened(t, path)
}

func opened(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return fmt.Sprintf("/proc/self/fd/%d", f.Fd())
}

// TestMounted holds when a monitor ends for its kubeconfig: not at once when that has
// been removed or replaced by a rename, as a container that starts while there is none has a
// directory made in its place, but at once when the API refuses it.
func TestMounted(t *testing.T) {
	remove := os.Remove
	replace := func(path string) error {
		return errors.Join(os.WriteFile(path+".new", []byte("other"), 0o600), os.Rename(path+".new", path))
	}
	begin := time.Unix(1_000_000, 0)
	for _, tt := range []struct {
		name    string
		becomes func(path string) error
		refused time.Duration // after this time; negative for never
		ends    time.Duration // negative for never
	}{
		{"nothing happens", func(string) error { return nil }, -1, -1},
		{"it is written in place, and refused", func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) }, 0, -1},
		{"it is removed", remove, -1, keepKubeconfig},
		{"another is renamed over it", replace, -1, keepKubeconfig},
		{"it is removed, and refused", remove, 0, 0},
		{"another is renamed over it, and it is refused", replace, 0, 0},
		{"another is renamed over it, and it is refused later", replace, time.Minute, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			now, questions := begin, 0
			u := &Mounted{path: mounted(t, path, "former"), log: slog.New(slog.DiscardHandler), refused: func(context.Context) error {
				if questions++; tt.refused >= 0 && now.Sub(begin) >= tt.refused {
					return errors.New("refused")
				}
				return nil
			}}
			if why := u.Obsolete(t.Context(), now.Add(-time.Hour)); why != nil || questions > 0 {
				t.Fatalf("before anything has happened it ends by %v, after %d questions", why, questions)
			}
			if err := tt.becomes(path); err != nil {
				t.Fatal(err)
			}
			ends := time.Duration(-1)
			for ; ends < 0 && now.Sub(begin) <= 2*keepKubeconfig; now = now.Add(CheckInterval) {
				if u.Obsolete(t.Context(), now) != nil {
					ends = now.Sub(begin)
				}
			}
			if ends != tt.ends {
				t.Errorf("it ends after %v, want %v", ends, tt.ends)
			}
			if most := int(keepKubeconfig / everyRefused); questions > most {
				t.Errorf("it has asked the API %d times, want %d at most", questions, most)
			}
		})
	}
}

// TestRefused_RealAPI asks a real API. What it accepts is used on, and so is what nobody can tell
// of.
func TestRefused_RealAPI(t *testing.T) {
	c, s := kubeapi.Local(t, kubeapi.Server{})
	sign := func(u kubeapi.User) kubeapi.Identity {
		id, err := c.Sign(u)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	valid, expired := sign(kubeapi.Node("m0")), sign(kubeapi.User{Name: "system:node:m0", Groups: []string{"system:nodes"}, Valid: -time.Minute})
	of := func(id kubeapi.Identity) string { return string(c.Kubeconfig(s.URL(), id)) }
	another := httptest.NewTLSServer(nil) // its certificate is in place of the cluster's CA
	t.Cleanup(another.Close)
	former := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: another.Certificate().Raw})
	encoded := base64.StdEncoding.EncodeToString
	for _, tt := range []struct{ name, text, want string }{
		{"accepted", of(valid), ""},
		{"accepted, and may do nothing", of(sign(kubeapi.User{Name: "nobody"})), ""},
		{"its certificate has expired", of(expired), "401"},
		{"its CA is a former one", strings.ReplaceAll(of(valid), encoded(c.CA()), encoded(former)), "certificate signed by unknown authority"},
		{"nobody answers", strings.ReplaceAll(of(valid), s.URL(), "https://127.0.0.1:1"), ""},
		{"a file that it names is not there", strings.ReplaceAll(of(valid), "client-key-data: ", "client-key: /nowhere/"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			inside := mounted(t, path, tt.text)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			why := NewAccess(inside, slog.New(slog.DiscardHandler)).Refused(t.Context())
			if got := fmt.Sprint(why); (why == nil) != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%v, want %q", why, tt.want)
			}
		})
	}
}

// TestMounted_Directory holds that a monitor which has been given a directory ends as
// soon as that is removed: the file that replaces it is mounted then.
func TestMounted_Directory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	inside := opened(t, path)
	u := &Mounted{path: inside, log: slog.New(slog.DiscardHandler), refused: NewAccess(inside, slog.New(slog.DiscardHandler)).Refused}
	if why := u.Obsolete(t.Context(), time.Now()); why != nil {
		t.Fatalf("with the directory there it ends by %v: another container would have the same", why)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if why := u.Obsolete(t.Context(), time.Now()); why == nil {
		t.Error("with the directory gone it goes on")
	}
}
