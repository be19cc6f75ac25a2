package instances

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Event is a line of keepalived's notify FIFO about an instance. State is empty when the line
// reports a priority alone: the state that it names is then an old one, and wrong in a reload, as
// keepalived computes the priority before it gives the instance its state back.
type Event struct {
	Instance string
	State    supervised.State
	Priority int
}

// ParseNotify reads a line such as `INSTANCE "demo_API_0" MASTER 70`. ok is false for a line about
// something else, such as a sync group. A name may hold any character, quotes too, so it ends at
// the last quote.
func ParseNotify(line string) (e Event, ok bool, err error) {
	kind, rest, _ := strings.Cut(line, " ")
	if kind != "INSTANCE" {
		if kind == "GROUP" {
			return Event{}, false, nil
		}
		return Event{}, false, fmt.Errorf("read notification %q: unknown kind", line)
	}
	end := strings.LastIndexByte(rest, '"')
	if end < 1 || rest[0] != '"' {
		return Event{}, false, fmt.Errorf("read notification %q: no name in quotes", line)
	}
	fields := strings.Fields(rest[end+1:])
	if len(fields) != 2 {
		return Event{}, false, fmt.Errorf(
			"read notification %q: not a state and a priority after the name", line)
	}
	e = Event{Instance: rest[1:end]}
	if e.State, ok = states[fields[0]]; !ok {
		return Event{}, false, fmt.Errorf("read notification %q: unknown state", line)
	}
	if e.Priority, err = strconv.Atoi(fields[1]); err != nil || e.Priority < 0 || e.Priority > 255 {
		return Event{}, false, fmt.Errorf("read notification %q: the priority is not 0 to 255",
			line)
	}
	return e, true, nil
}

// states are keepalived's names of a state, or of an event in it.
var states = map[string]supervised.State{
	"MASTER":              supervised.Master,
	"MASTER_RX_LOWER_PRI": supervised.Master,
	"MASTER_PRIORITY":     "",
	"BACKUP":              supervised.Backup,
	"BACKUP_PRIORITY":     "",
	"FAULT":               supervised.Fault,
	"STOP":                supervised.Init,
}
