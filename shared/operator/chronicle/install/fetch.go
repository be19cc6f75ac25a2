package install

import (
	"net/netip"
	"regexp"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
)

// Fetch is a request of a host's Ignition, as the log of OpenShift's machine config server has it.
type Fetch struct {
	At   time.Time // without a year, which the log does not have
	From netip.Addr
	Pool string
}

// The lines of that log: klog's, behind what the container's log adds to them.
var (
	logged = regexp.MustCompile(
		`^(?:\S+ std(?:out|err) \S )?[IWEF](\d{4} \d\d:\d\d:\d\d\.\d+) +\d+ `)
	request = regexp.MustCompile(
		`\] Pool (\S{1,63}) requested by address:"([^"]+)" User-Agent:"Ignition/`)
)

// readFetch reads a line of that log. A line without a request has no address; ok is false for a
// line that is none of the log's.
func readFetch(line string) (f Fetch, ok bool) {
	head := logged.FindStringSubmatch(line)
	if head == nil {
		return f, false
	}
	at, err := time.Parse("0102 15:04:05.999999", head[1])
	of := request.FindStringSubmatch(line)
	if err != nil || of == nil {
		return f, true
	}
	if from, err := netip.ParseAddrPort(of[2]); err == nil {
		f = Fetch{At: at, From: from.Addr().Unmap(), Pool: of[1]}
	}
	return f, true
}

// fetched are the requests as events, those of hosts that have joined with their names. Their year
// is that of the record's begin, or the next one; without a begin there are none.
func (r Record) fetched() (all []events.Event) {
	begin, _ := r.span()
	if begin.IsZero() {
		return nil
	}
	hosts := map[netip.Addr]string{}
	for _, e := range r.Entries {
		if e.Kind == ledger.Joined {
			for _, a := range e.Addresses {
				hosts[a] = e.Host
			}
		}
	}
	const halfYear = 183 * 24 * time.Hour
	for _, f := range r.Fetches {
		at := f.At.AddDate(begin.Year()-f.At.Year(), 0, 0)
		if begin.Sub(at) > halfYear {
			at = at.AddDate(1, 0, 0)
		}
		all = append(all, events.Event{Time: at, Host: hosts[f.From], Source: events.Ignition,
			Kind: f.Pool, Detail: f.From.String()})
	}
	return all
}
