package supervise

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

func TestParseNotify(t *testing.T) {
	tests := []struct {
		line string
		want event
		ok   bool
		err  string
	}{
		{line: `INSTANCE "demo_API_0" MASTER 70`, want: event{"demo_API_0", supervised.Master, 70}, ok: true},
		{line: `INSTANCE "demo_API_0" BACKUP 48`, want: event{"demo_API_0", supervised.Backup, 48}, ok: true},
		{line: `INSTANCE "demo_API_0" FAULT 70`, want: event{"demo_API_0", supervised.Fault, 70}, ok: true},
		{line: `INSTANCE "demo_API_0" STOP 0`, want: event{"demo_API_0", supervised.Init, 0}, ok: true},
		{line: `INSTANCE "demo_API_0" MASTER_RX_LOWER_PRI 70`, want: event{"demo_API_0", supervised.Master, 70}, ok: true},
		{line: `INSTANCE "demo_API_0" MASTER_PRIORITY 45`, want: event{"demo_API_0", supervised.Master, 45}, ok: true},
		{line: `INSTANCE "demo_API_0" BACKUP_PRIORITY 45`, want: event{"demo_API_0", supervised.Backup, 45}, ok: true},
		{line: `INSTANCE "a b" MASTER 1`, want: event{"a b", supervised.Master, 1}, ok: true},
		{line: `INSTANCE "a" b" MASTER 1`, want: event{`a" b`, supervised.Master, 1}, ok: true},
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
			got, ok, err := parseNotify(tt.line)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("got error %v, want %q", err, tt.err)
			}
			if ok != tt.ok || ok && got != tt.want {
				t.Errorf("got %+v %v, want %+v %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func FuzzParseNotify(f *testing.F) {
	f.Add(`INSTANCE "demo_API_0" MASTER 70`)
	f.Add(`GROUP "VG_API" BACKUP 0`)
	f.Add(`INSTANCE "" FAULT 255`)
	f.Fuzz(func(t *testing.T, line string) {
		e, ok, err := parseNotify(line)
		if ok && err != nil {
			t.Fatalf("%q is read and is an error: %v", line, err)
		}
		if ok && (e.Priority < 0 || e.Priority > 255 || e.State == "" || !strings.Contains(line, e.Instance)) {
			t.Fatalf("%q reads as %+v", line, e)
		}
	})
}
