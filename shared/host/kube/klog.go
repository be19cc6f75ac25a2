package kube

import (
	"errors"
	"log/slog"
	"net"
	"net/url"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
)

var silenced sync.Once

// silence client-go, which writes to stderr where it was given no logger. That log is one for the
// whole process, and may be set but once while others may write to it.
func silence() {
	silenced.Do(func() { klog.SetSlogLogger(slog.New(slog.DiscardHandler)) })
}

// ear hears what client-go logs about a watch and passes on the errors in it: those that end a
// stream come out no other way.
type ear struct{ tell func(error) }

func (ear) Init(klog.RuntimeInfo) {}

// Enabled is true up to the level at which client-go logs why a watch must be tried again.
func (ear) Enabled(level int) bool { return level <= 4 }

func (e ear) Info(_ int, _ string, pairs ...any) {
	for _, value := range pairs {
		if err, ok := value.(error); ok {
			e.tell(err)
		}
	}
}

func (e ear) Error(err error, message string, _ ...any) {
	if err == nil {
		err = errors.New(message)
	}
	e.tell(err)
}

func (e ear) WithValues(...any) klog.LogSink { return e }
func (e ear) WithName(string) klog.LogSink   { return e }

// stable drops what differs with each attempt, the question and the local port, so that an error
// that lasts is one error.
func stable(err error) error {
	var answer *apierrors.StatusError
	if errors.As(err, &answer) {
		return answer
	}
	var target *url.Error
	if errors.As(err, &target) {
		err = target.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		op.Source = nil
	}
	return err
}
