package supervise

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// event is one line of keepalived's notify FIFO that speaks of an instance. State is empty when the
// line says no more than a priority: its word for the state is then no news, and in a reload it is
// false, as keepalived counts the priority before it gives the instance its state back.
type event struct {
	Instance string
	State    supervised.State
	Priority int
}

// parseNotify reads a line such as `INSTANCE "demo_API_0" MASTER 70`. ok is false for a line that
// speaks of something else, as a sync group's does. A name may hold any character, quotes too, so
// it ends at the last quote.
func parseNotify(line string) (e event, ok bool, err error) {
	kind, rest, _ := strings.Cut(line, " ")
	if kind != "INSTANCE" {
		if kind == "GROUP" {
			return event{}, false, nil
		}
		return event{}, false, fmt.Errorf("read notification %q: unknown kind", line)
	}
	end := strings.LastIndexByte(rest, '"')
	if end < 1 || rest[0] != '"' {
		return event{}, false, fmt.Errorf("read notification %q: no name in quotes", line)
	}
	fields := strings.Fields(rest[end+1:])
	if len(fields) != 2 {
		return event{}, false, fmt.Errorf("read notification %q: not a state and a priority after the name", line)
	}
	e = event{Instance: rest[1:end]}
	if e.State, ok = states[fields[0]]; !ok {
		return event{}, false, fmt.Errorf("read notification %q: unknown state", line)
	}
	if e.Priority, err = strconv.Atoi(fields[1]); err != nil || e.Priority < 0 || e.Priority > 255 {
		return event{}, false, fmt.Errorf("read notification %q: the priority is not 0 to 255", line)
	}
	return e, true, nil
}

// states are keepalived's words for a state, or for what happened in it.
var states = map[string]supervised.State{
	"MASTER":              supervised.Master,
	"MASTER_RX_LOWER_PRI": supervised.Master,
	"MASTER_PRIORITY":     "",
	"BACKUP":              supervised.Backup,
	"BACKUP_PRIORITY":     "",
	"FAULT":               supervised.Fault,
	"STOP":                supervised.Init,
}
