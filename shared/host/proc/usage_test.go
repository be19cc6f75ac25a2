package proc

import (
	"testing"
	"time"
)

func TestReadUsage(t *testing.T) {
	const rest = " S 1 7 7 0 -1 4194560 900 0 0 0 250 50 0 0 20 0 9 0 12345 1300000000 6400 18446744073709551615 1 1 0 0 0"
	for _, tt := range []struct {
		name, stat string
		want       Usage
		wrong      bool
	}{
		{"a program", "7 (onprem-infra)" + rest, Usage{CPU: 3 * time.Second,
			Resident: 6400 * 4096}, false},
		{"a name with brackets", "7 (a) b (c)" + rest, Usage{CPU: 3 * time.Second,
			Resident: 6400 * 4096}, false},
		{"nothing", "", Usage{}, true},
		{"cut off", "7 (onprem-infra) S 1 7", Usage{}, true},
		{"no number", "7 (x) S 1 7 7 0 -1 4194560 900 0 0 0 x 50 0 0 20 0 9 0 12345 1300000000 6400 1", Usage{}, true},
	} {
		if got, err := readUsage([]byte(tt.stat), 4096); got != tt.want ||
			(err != nil) != tt.wrong {
			t.Errorf("%s: %+v, %v; want %+v, an error: %v", tt.name, got, err, tt.want, tt.wrong)
		}
	}
}

func TestOwnUsage(t *testing.T) {
	u, err := OwnUsage()
	if err != nil || u.Resident < 1<<20 || u.Resident > 1<<36 {
		t.Errorf("%+v, %v", u, err)
	}
}
