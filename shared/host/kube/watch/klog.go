package watch

import (
	"errors"

	"k8s.io/klog/v2"
)

// errorLog passes on the errors that client-go logs about a watch: those that end a stream are
// reported in no other way.
type errorLog struct{ report func(error) }

func (errorLog) Init(klog.RuntimeInfo) {}

// Enabled is true up to the level at which client-go logs why a watch must be tried again.
func (errorLog) Enabled(level int) bool { return level <= 4 }

func (s errorLog) Info(_ int, _ string, pairs ...any) {
	for _, value := range pairs {
		if err, ok := value.(error); ok {
			s.report(err)
		}
	}
}

func (s errorLog) Error(err error, message string, _ ...any) {
	if err == nil {
		err = errors.New(message)
	}
	s.report(err)
}

func (s errorLog) WithValues(...any) klog.LogSink { return s }
func (s errorLog) WithName(string) klog.LogSink   { return s }
