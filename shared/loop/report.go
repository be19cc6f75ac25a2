package loop

// Notifier is the service manager.
type Notifier interface {
	Ready() error
	Status(text string) error
}

// Reporter reports a room's state to the service manager: its status when it changes, and READY
// once.
type Reporter struct {
	Notifier
	status string // reported last
	ready  bool
}

// Report passes the room's state on; ready: the unit has started.
func (r *Reporter) Report(ready bool, status string) error {
	if status != r.status {
		if err := r.Status(status); err != nil {
			return err
		}
		r.status = status
	}
	if !ready || r.ready {
		return nil
	}
	if err := r.Ready(); err != nil {
		return err
	}
	r.ready = true
	return nil
}
