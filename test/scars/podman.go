package scars

// containers is what is asked of the containers' keepers, beside the scars: what people and podman do to a container is undone or said.
func containers() []Scar {
	const (
		engine   = "shared/host/podman/container.go"
		daemon   = "bootstrap/daemon/daemon.go"
		pulse    = "bootstrap/daemon/pulse.go"
		unheard  = "TestEnsure/ours has ended, and the engine does not know: replaced"
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
			by("cmd/onprem-infra", "TestStatusIsTrue", "cmd/onprem-infra/bootstrap_status.go", "if sent := status.ended(err); err == nil {", "if sent := error(nil); err == nil {")),
	}
}
