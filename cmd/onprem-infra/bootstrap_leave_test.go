//go:build remote

package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRequestLeave makes the request and takes it back, and leaves alone what a person has asked
// for.
func TestRequestLeave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leave")
	for _, step := range []struct {
		name    string
		foreign bool // somebody else asks first
		now     bool
		there   bool
	}{
		{name: "nothing to take back"},
		{name: "asked", now: true, there: true},
		{name: "asked again", now: true, there: true},
		{name: "taken back"},
		{name: "another's request is not taken back", foreign: true, there: true},
		{name: "and does for ours too", now: true, there: true},
		{name: "but stays his", there: true},
	} {
		if step.foreign {
			if err := ask(path); err != nil {
				t.Fatal(err)
			}
		}
		if err := requestLeave(path, step.now); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if _, err := os.Stat(path); (err == nil) != step.there {
			t.Errorf("%s: %v", step.name, err)
		}
	}
}
