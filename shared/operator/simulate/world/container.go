package world

import "time"

// Container is a container as kubelet restarts it: at once after its first exit, and then ever
// later, until it has run for long enough.
type Container struct {
	ByPodman bool // our program restarts it, at once each time: there is no kubelet

	next time.Duration // the least pause after the next exit; 0 if it has not exited yet
	last time.Duration // when kubelet last started it after an exit
}

// Forget is what a reboot does: kubelet counts exits in its memory.
func (c *Container) Forget() { *c = Container{ByPodman: c.ByPodman} }

// Restart is the pause between a container's exit and its next start. Kubelet counts from the exit;
// at the end of a back-off it starts the container when it next synchronizes the pod: at once, or,
// before Kubernetes 1.33, within 15 s.
func (w *World) Restart(c *Container) (pause time.Duration) {
	pause = w.Take(Restarts)
	if c.ByPodman {
		return pause
	}
	if c.next == 0 || w.Now-c.last > steady {
		c.next = firstBackOff
	} else {
		pause = max(pause, c.next+w.Take(Resyncs))
		c.next = min(2*c.next, longBackOff)
	}
	c.last = w.Now + pause
	return pause
}
