package output

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// undisturbed writes without being ended in between, as by ^C: files of a tree would be half of one
// and half of another, and temporary files would stay. A signal ends the process when it is done.
// One that the process ignores, as SIGHUP under nohup, stays ignored.
func undisturbed(write func() error) error {
	ends := slices.DeleteFunc([]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP},
		signal.Ignored)
	if len(ends) == 0 { // none would mean all
		return write()
	}
	received := make(chan os.Signal, 1)
	signal.Notify(received, ends...)
	err := write()
	signal.Stop(received)
	select {
	case s := <-received:
		_ = syscall.Kill(os.Getpid(), s.(syscall.Signal)) // by its default action now
		select {}                                         // which is about to happen
	default:
		return err
	}
}
