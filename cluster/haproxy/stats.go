package haproxy

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ready is the HTTP status of an API server that is ready.
const ready = 200

// Stat is the statistics of one server in one backend.
type Stat struct {
	Backend  string
	Server   string
	Address  netip.AddrPort // invalid if HAProxy does not report it
	Status   string         // UP, DOWN, MAINT, "UP 1/3", "no check"
	Check    string         // result of the last check, such as L7OK; empty or INI before the first
	Code     int            // HTTP status of the last check; 0 during the next one
	Sessions int            // that are open
	Changed  int            // seconds since the status changed
}

// Up reports whether new connections may go to the server. HAProxy takes an unchecked one for up.
func (s Stat) Up() bool { return strings.HasPrefix(s.Status, "UP") || s.Status == "no check" }

// Disabled reports whether the server is disabled, as a free slot is.
func (s Stat) Disabled() bool { return strings.HasPrefix(s.Status, "MAINT") }

// Passed reports whether the last check passed.
func (s Stat) Passed() bool { return s.Check == "L7OK" }

// Ready reports whether a check found an API server ready. A server's being up does not prove it:
// HAProxy takes servers for up before the first check, and one that refuses anonymous requests
// passes its checks whether it is ready or not.
func Ready(stats []Stat) bool {
	return slices.ContainsFunc(stats, func(s Stat) bool { return s.serves() && s.Code == ready })
}

// Reserved are the API servers that passed their last check without reporting readiness, because
// they refuse anonymous requests. Only an authenticated request can learn whether they are ready.
func Reserved(stats []Stat) []netip.AddrPort {
	var out []netip.AddrPort
	for _, s := range stats {
		if s.serves() && s.Code != ready && s.Address.IsValid() {
			out = append(out, s.Address)
		}
	}
	return out
}

// serves reports whether clients may be sent to this API server and it has passed a check.
func (s Stat) serves() bool { return s.Backend == Masters && s.Up() && s.Passed() }

// columns are those that are read, by the name in the first line: HAProxy versions add columns.
var columns = []string{"pxname", "svname", "scur", "status", "lastchg", "type", "check_status",
	"check_code", "addr"}

// typeServer is the type of a server's row; other rows are sums.
const typeServer = "2"

// ParseStats parses the complete CSV of "show stat", or of the statistics page with ";csv". It
// returns the servers in HAProxy's order.
func ParseStats(text []byte) ([]Stat, error) {
	rows := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(bytes.TrimLeft(text, "\n"),
		[]byte("# "))))
	rows.FieldsPerRecord = -1
	rows.ReuseRecord = true
	head, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("read HAProxy's statistics: no first line: %w", err)
	}
	at := map[string]int{}
	for i, name := range head {
		at[name] = i
	}
	for _, name := range columns {
		if _, ok := at[name]; !ok {
			return nil, fmt.Errorf("read HAProxy's statistics: there is no column %s", name)
		}
	}
	width := len(head)
	var out []Stat
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read HAProxy's statistics: %w", err)
		}
		if len(row) != width {
			return nil, fmt.Errorf("read HAProxy's statistics: a row has %d columns of %d",
				len(row), width)
		}
		if row[at["type"]] != typeServer {
			continue
		}
		out = append(out, stat(func(name string) string { return row[at[name]] }))
	}
}

// stat leaves unreadable values zero: a server without an address still counts.
func stat(column func(string) string) Stat {
	s := Stat{
		Backend: strings.Clone(column("pxname")), Server: strings.Clone(column("svname")),
		Status: strings.Clone(column("status")),
		// a check is under way
		Check: strings.Clone(strings.TrimPrefix(column("check_status"), "* ")),
	}
	s.Code, _ = strconv.Atoi(column("check_code"))
	s.Sessions, _ = strconv.Atoi(column("scur"))
	s.Changed, _ = strconv.Atoi(column("lastchg"))
	s.Address, _ = netip.ParseAddrPort(column("addr"))
	return s
}
