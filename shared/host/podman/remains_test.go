//go:build remote

package podman

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/containers/podman/v4/pkg/bindings/containers"
)

// A power cut may leave a container in podman's storage alone, and podman then refuses its name: it
// is removed, and the new one starts. One that another program has mounted stays.
func TestStart_Remains(t *testing.T) {
	s, e := engine(t)
	for _, tt := range []struct {
		name    string
		mounted bool
	}{{"of ours", false}, {"mounted by another program", true}} {
		t.Run(tt.name, func(t *testing.T) {
			spec := idle("onprem-remains")
			create(t, e, func(ctx context.Context) error {
				_, err := containers.CreateWithSpec(ctx, generate(spec), nil)
				return err
			})
			s.forget()
			if tt.mounted {
				s.run(nil, "mount", spec.Name)
			}
			err := e.Start(t.Context(), spec)
			if tt.mounted {
				if err == nil || !strings.Contains(err.Error(), "podman rm --force "+spec.Name) {
					t.Errorf("Start() = %v, want it to say how to remove what is mounted", err)
				}
				if left := s.run(nil, "ps", "--all", "--external"); !strings.Contains(left, spec.Name) {
					t.Errorf("what was mounted is gone: %s", left)
				}
				s.run(nil, "rm", "--force", spec.Name)
				err = e.Start(t.Context(), spec)
			}
			if err != nil {
				t.Fatal(err)
			}
			if state, _, err := e.Inspect(t.Context(), spec.Name); err != nil || !state.Running {
				t.Errorf("Inspect() = %+v, %v, want it to run", state, err)
			}
			if err := e.Remove(t.Context(), spec.Name); err != nil {
				t.Error(err)
			}
		})
	}
}

// forget ends the service and starts it without its database: it knows no container any more, and
// its storage still has them all.
func (s *service) forget() {
	s.t.Helper()
	s.stop()
	var gone int
	// Of podman 4, and of podman 5, by how its directories are set.
	for _, database := range []string{"libpod/bolt_state.db", "db.sql", "libpod/db.sql"} {
		err := os.Remove(s.dir + "/root/" + database)
		if err == nil {
			gone++
		} else if !errors.Is(err, fs.ErrNotExist) {
			s.t.Fatal(err)
		}
	}
	if gone == 0 {
		s.t.Fatal("podman's database is at none of its places")
	}
	s.start()
	eventually(s.t, "reach the service", func() error {
		_, _, err := New(s.uri()).Inspect(s.t.Context(), "none")
		return err
	})
}
