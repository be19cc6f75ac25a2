package scars

// containers is what is asked of the containers' keepers, beside the scars: what people and podman do to a container is undone or said.
func containers() []Scar {
	const (
		engine   = "shared/host/podman/container.go"
		daemon   = "bootstrap/daemon/daemon.go"
		pulse    = "bootstrap/daemon/pulse.go"
		unheard  = "TestEnsure/ours has ended, and the engine does not know: replaced"
		stop     = "bootstrap/daemon/stop.go"
		vanishes = `"no such container"`
	)
	return []Scar{
		kept("C-01", "A container that somebody had paused was waited for, replaced or left for dead, and went on holding what it held.",
			by("bootstrap/daemon", "TestPulse/paused: it goes on, and nothing is lost", pulse, "if found && ours(state) && state.Paused {", "if found && ours(state) && state.Paused && k == nil {"),
			by("bootstrap/daemon", "TestPulseOfThePaused", pulse, "suspect = 2", "suspect = faint"),
			by("bootstrap/daemon", "TestEnsure/ours is paused: it goes on and is adopted", daemon, "if state.Paused {", "if false {"),
			by("shared/host/podman", "TestUnpause", engine, "return s.State.Running || s.State.Paused", "return s.State.Running"),
			by("shared/host/podman", "TestRemoveOfAPausedContainer", engine, "WithForce(true).WithIgnore(true).WithTimeout(0)", "WithIgnore(true)")),
		kept("C-02", "A machine that was busy or suspended took its containers for dead, or counted one beat as two.",
			by("bootstrap/daemon", "TestPulseCountsBeats", pulse, "if k.pulse.missed++; k", "if k.pulse.missed += 1 + int(now.Sub(k.begun)/time.Hour); k"),
			by("bootstrap/daemon", "TestPulseOfUnevenRounds", pulse, "now.Add(beat - early)", "now.Add(beat)"),
			by("bootstrap/daemon", "TestPulseBesideTheRounds", pulse, "suspect = 2", "suspect = 1")),
		kept("C-03", "A container was killed while podman did not answer, and nobody could start another one.",
			by("bootstrap/daemon", "TestPulseWithoutAnEngine", pulse, "\tif err != nil {\n\t\treturn fmt.Errorf(\"container %s gives no sign of life (%w); look", "\tif err != nil && k.pulse.missed < dead {\n\t\treturn fmt.Errorf(\"container %s gives no sign of life (%w); look")),
		kept("C-04", "A process that somebody looked at with a debugger was killed.",
			by("bootstrap/daemon", "TestPulseLeavesADebuggerAlone", pulse, "tracer != 0", "tracer < 0"),
			by("shared/host/proc", "TestTracer", "shared/host/proc/proc.go", "TracerPid:", "Ngid:")),
		kept("C-05", "A container had ended, podman did not know as what watches it was killed too, and it was adopted or stopped for ever.",
			by("bootstrap/daemon", unheard, daemon, "!errors.Is(err, os.ErrProcessDone)", "!errors.Is(err, os.ErrProcessDone) || true"),
			by("bootstrap/daemon", unheard, daemon, "if running {", "if true {")),
		kept("C-06", "Somebody's container had our name: it was stopped or deleted, or ours did not come back after it.",
			by("bootstrap/daemon", "TestEnsure/foreign container: refused, not deleted", daemon, "case found && !ours(state):", "case found && ours(state) && false:"),
			by("shared/host/podman", "TestNameTaken", engine, `if s.Config.Labels[label] == "" {`, "if false {"),
			by("bootstrap/daemon", "TestForeignContainerLeaves", "bootstrap/daemon/backoff.go", "return maxLocalDelay", "return time.Hour")),
		kept("C-07", "A container that was removed by hand, also in the midst of a look at it, was a fault and not an absence.",
			by("shared/host/podman", "TestVanishedIsGone", engine, vanishes, `"no such thing"`),
			by("shared/host/podman", "TestRemovedByHand", engine, "if status == http.StatusNotFound || vanished(err) {", "if status == http.StatusTeapot {")),
		kept("C-08", "Storage was full, and nobody said so.",
			by("shared/host/podman", "TestStorageFull", engine, `return fmt.Errorf("create container %s from image %s: %w", spec.Name, spec.Image, oneLine(err))`, `return fmt.Errorf("create container %s from image %s", spec.Name, spec.Image)`)),
		kept("C-09", "systemctl status went on with MASTER while the container was gone.",
			by("cmd/onprem-infra", "TestStatusIsTrue", "cmd/onprem-infra/bootstrap_status.go", "sent := status.ended(err)", "var sent error")),
		kept("C-10", "A number was taken for a container's first process after that had ended, and a stranger got its SIGTERM.",
			by("bootstrap/daemon", "TestEnsure/its number is a stranger's: that is not touched", daemon, "err != nil || !own", "err != nil || !own && false"),
			by("shared/host/proc", "TestOf", "shared/host/proc/proc.go", "return strings.Contains(string(text), container), nil", "return strings.Contains(string(text), container) || true, nil")),
		kept("C-11", "A container was started and never seen, or made and never started, and the next stop took it for stopped.",
			by("bootstrap/daemon", "TestStopAfterAStartThatFailedHalfway", daemon, "k.stopped = false\n\terr :=", "k.stopped = k.stopped && k.failure == nil\n\terr :="),
			by("bootstrap/daemon", "TestStopWithoutHavingStarted/made and not started, as far as anybody knows", stop, "ours(state) && state.New", "ours(state) && false")),
		kept("C-12", "On a slow disk a container was taken away and made anew each time, and never ran.",
			by("bootstrap/daemon", "TestEnsure/ours was made and never started: it gets its turn", daemon, "if found && state.New && state.Digest == spec.Digest() {", "if false {"),
			by("bootstrap/daemon", "TestEnsure/ours needs long to start: it is not taken away", daemon, "if errors.Is(err, context.DeadlineExceeded) ||", "if"),
			by("shared/host/podman", "TestNeverStarted", engine, `s.State.Status == "created" || s.State.Status == "initialized"`, "false")),
		kept("C-13", "Without podman's socket the program did not turn, and so did not know when the VIP has to leave.",
			by("shared/host/podman", "TestServiceIsSilent", "shared/host/podman/engine.go", "bindings.NewConnection(ctx,", "bindings.NewConnection(context.WithoutCancel(ctx),"),
			by("bootstrap/daemon", "TestStopWithoutAnEngine", stop, `return fmt.Errorf("container %s may still run, and keep what it holds: look at it: %w", name, err)`, "return nil"),
			by("bootstrap/daemon", "TestStopFindsWithoutAnEngine", stop, "if k.find() && k.end(ctx, name) {", "if false {"),
			by("shared/host/podman", "TestNeverStarted", "shared/host/proc/first.go", `own, err := p.Of("libpod-")`, `own, err := p.Of("no-pod")`)),
		kept("C-14", "A paused container kept the VIP: podman's service was idle, and systemd did not start it while the unit stopped.",
			by("units", "TestDaemons", "units/onprem-keepalived.service", "podman.socket crio-wipe.service", "podman.socket podman.service crio-wipe.service")),
	}
}
