package instances

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

func TestParseNotify(t *testing.T) {
	tests := []struct {
		line string
		want Event
		ok   bool
		err  string
	}{
		{line: `INSTANCE "demo_API_0" MASTER 70`, want: Event{"demo_API_0",
			supervised.Master, 70}, ok: true},
		{line: `INSTANCE "demo_API_0" BACKUP 48`, want: Event{"demo_API_0",
			supervised.Backup, 48}, ok: true},
		{line: `INSTANCE "demo_API_0" FAULT 70`, want: Event{"demo_API_0",
			supervised.Fault, 70}, ok: true},
		{line: `INSTANCE "demo_API_0" STOP 0`, want: Event{"demo_API_0",
			supervised.Init, 0}, ok: true},
		{line: `INSTANCE "demo_API_0" MASTER_RX_LOWER_PRI 70`, want: Event{"demo_API_0",
			supervised.Master, 70}, ok: true},
		{line: `INSTANCE "demo_API_0" MASTER_PRIORITY 45`, want: Event{"demo_API_0",
			"", 45}, ok: true},
		{line: `INSTANCE "demo_API_0" BACKUP_PRIORITY 45`, want: Event{"demo_API_0",
			"", 45}, ok: true},
		{line: `INSTANCE "a b" MASTER 1`, want: Event{"a b", supervised.Master, 1}, ok: true},
		{line: `INSTANCE "a" b" MASTER 1`, want: Event{`a" b`, supervised.Master, 1}, ok: true},
		{line: `GROUP "VG_API" MASTER 70`},
		{line: ``, err: "unknown kind"},
		{line: `instance "a" MASTER 70`, err: "unknown kind"},
		{line: `INSTANCE a MASTER 70`, err: "no name in quotes"},
		{line: `INSTANCE "a MASTER 70`, err: "no name in quotes"},
		{line: `INSTANCE "a" MASTER`, err: "not a state and a priority"},
		{line: `INSTANCE "a" MASTER 70 80`, err: "not a state and a priority"},
		{line: `INSTANCE "a" {UNKNOWN} 70`, err: "unknown state"},
		{line: `INSTANCE "a" MASTER high`, err: "0 to 255"},
		{line: `INSTANCE "a" MASTER 256`, err: "0 to 255"},
		{line: `INSTANCE "a" MASTER -1`, err: "0 to 255"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			got, ok, err := ParseNotify(tt.line)
			if (err == nil) != (tt.err == "") || err != nil &&
				!strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got error %v, want %q", err, tt.err)
			}
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("got %+v %v, want %+v %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// FuzzParseNotify holds that an event is what its line reports, and that an error quotes the line
// on one line of a log.
func FuzzParseNotify(f *testing.F) {
	f.Add(`INSTANCE "demo_API_0" MASTER 70`)
	f.Add(`GROUP "VG_API" BACKUP 0`)
	f.Add(`INSTANCE "" FAULT 255`)
	f.Add(`INSTANCE "a" b" STOP 0`)
	f.Add(`INSTANCE "a"MASTER_RX_LOWER_PRI +7`)
	f.Add("INSTANCE \"\x00\" MASTER\t070\r")
	f.Add(`INSTANCE "`)
	f.Fuzz(func(t *testing.T, line string) {
		e, ok, err := ParseNotify(line)
		switch {
		case !ok && e != (Event{}):
			t.Errorf("%q is not read and gives %+v", line, e)
		case ok && err != nil:
			t.Errorf("%q is read and is an error: %v", line, err)
		case err != nil && strings.ContainsAny(err.Error(), "\n\r\x00"):
			t.Errorf("%q makes an error of more than a line: %q", line, err)
		case ok && (e.Priority < 0 || e.Priority > 255 || !strings.HasPrefix(line,
			`INSTANCE "`+e.Instance+`"`)):
			t.Errorf("%q reads as %+v", line, e)
		}
		if !ok {
			return
		}
		again, ok, err := ParseNotify(fmt.Sprintf(`INSTANCE "%s" %s %d`, e.Instance,
			stateName(e.State), e.Priority))
		if again != e || !ok || err != nil {
			t.Errorf("%q reads as %+v and, written again, as %+v (%v)", line, e, again, err)
		}
	})
}

// stateName is keepalived's name of a state.
func stateName(s supervised.State) string {
	switch s {
	case supervised.Init:
		return "STOP"
	case "":
		return "MASTER_PRIORITY"
	}
	return string(s)
}
