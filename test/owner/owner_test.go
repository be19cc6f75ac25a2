package owner

import (
	"fmt"
	"os/exec"
	"testing"
)

func TestDead(t *testing.T) {
	self, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, owner string
		dead        bool
	}{
		{name: "this process", owner: self + ".1.a", dead: false},
		{name: "this process's number, given to another one", owner: self + "0.1.a", dead: true},
		{name: "a process that ended", owner: fmt.Sprintf("%d.1", gone.Process.Pid), dead: true},
		{name: "no process at all", owner: "blue", dead: false},
		{name: "a name with dots", owner: "a.b.c", dead: false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Dead(tt.owner); got != tt.dead {
				t.Errorf("Dead(%q) = %t, want %t", tt.owner, got, tt.dead)
			}
		})
	}
}
