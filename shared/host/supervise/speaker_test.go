package supervise

import (
	"log/slog"
	"os/exec"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bonus"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestSuccessorIsHeardFirst has the next process that speaks VRRP heard before the end of the one
// before has been: what it says is kept, and the end does not undo it.
func TestSuccessorIsHeardFirst(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	speaker, err := proc.Open(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer speaker.Close()
	gone := make(chan struct{})
	s := &supervisor{
		Options: Options{RunDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}, starts: 1, failed: make(chan error, 3), stances: map[string]bonus.State{},
		status: supervised.Status{Instances: map[string]supervised.Instance{}},
		daemon: &daemon{child: &child{done: make(chan struct{})}, speaks: true, speaker: speaker, vrrpGone: gone},
	}
	s.heard(`INSTANCE "demo_API_0" MASTER 70`)
	if s.daemon.vrrpGone != gone || s.status.Instances["demo_API_0"].State != supervised.Master {
		t.Fatalf("while it lives: %+v", s.status.Instances)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	s.heard(`INSTANCE "demo_API_0" BACKUP 70`)
	if s.daemon.vrrpGone == gone {
		t.Error("its end is still to be noticed, and will undo what the next one has said")
	}
	if got := s.status.Instances["demo_API_0"].State; got != supervised.Backup {
		t.Errorf("the next one is %s", got)
	}
}
