package need

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// recorder is a test that only records how it ended.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) {
	r.ended = "skip: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.ended = "fatal: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestMissing(t *testing.T) {
	for _, tt := range []struct {
		name, require string
		ask           func(testing.TB)
		want          string
	}{
		{name: "a missing program is a reason to skip", ask: func(tb testing.TB) {
			Command(tb, "no-such-daemon")
		}, want: "skip: needs the program no-such-daemon"},
		{name: "but not if it is required", require: "1", ask: func(tb testing.TB) {
			Command(tb, "no-such-daemon")
		}, want: "fatal: needs the program no-such-daemon"},
		{name: "a program that exists", require: "1", ask: func(tb testing.TB) {
			Command(tb, "sh")
		}},
		{name: "a missing file", require: "1", ask: func(tb testing.TB) {
			File(tb, "/no/such/file")
		}, want: "fatal: needs /no/such/file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(Require, tt.require)
			r := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				tt.ask(r)
			}()
			<-done
			if !strings.HasPrefix(r.ended, tt.want) || tt.want == "" && r.ended != "" {
				t.Errorf("ended with %q, want %q", r.ended, tt.want)
			}
		})
	}
}
