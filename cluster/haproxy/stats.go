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

// ready is what an API server answers, in HTTP, that is ready.
const ready = 200

// Stat is what HAProxy says of one server in one backend.
type Stat struct {
	Backend  string
	Server   string
	Address  netip.AddrPort // invalid when HAProxy does not say it
	Status   string         // UP, DOWN, MAINT, "UP 1/3", "no check"
	Check    string         // the result of the last check that ended, L7OK or L4CON for instance; empty or INI before the first one
	Code     int            // of HTTP, that the last check got; 0 while the next one is under way
	Sessions int            // that are open
	Changed  int            // seconds since the status changed
}

// Up says whether new connections may go to the server. One that has never been checked is up for
// HAProxy.
func (s Stat) Up() bool { return strings.HasPrefix(s.Status, "UP") || s.Status == "no check" }

// Disabled says whether the server is out by order, as a free slot is.
func (s Stat) Disabled() bool { return strings.HasPrefix(s.Status, "MAINT") }

// Passed says whether the last check that ended was good.
func (s Stat) Passed() bool { return s.Check == "L7OK" }

// Ready says whether some API server has told a check that it is ready. HAProxy calls servers up
// before their first one, so that alone says nothing; and one that refuses to answer strangers
// passes its checks whether it is ready or not.
func Ready(stats []Stat) bool {
	return slices.ContainsFunc(stats, func(s Stat) bool { return s.serves() && s.Code == ready })
}

// Reserved are the API servers that passed their last check without a word of being ready, as those
// do which refuse to answer strangers. Whether they are ready, only somebody whom they know can
// learn.
func Reserved(stats []Stat) []netip.AddrPort {
	var out []netip.AddrPort
	for _, s := range stats {
		if s.serves() && s.Code != ready && s.Address.IsValid() {
			out = append(out, s.Address)
		}
	}
	return out
}

// serves says whether it is an API server that clients may be sent to, and has passed a check.
func (s Stat) serves() bool { return s.Backend == Masters && s.Up() && s.Passed() }

// columns that are read, by the name in the first line: HAProxy adds columns with each version.
var columns = []string{"pxname", "svname", "scur", "status", "lastchg", "type", "check_status", "check_code", "addr"}

// typeServer is the type of a row that is a server's; others sum up.
const typeServer = "2"

// ParseStats reads the CSV of HAProxy's statistics: what "show stat" answers, or the statistics
// page with ";csv". Only servers are returned, in HAProxy's order. The text must be whole.
func ParseStats(text []byte) ([]Stat, error) {
	rows := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(bytes.TrimLeft(text, "\n"), []byte("# "))))
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
			return nil, fmt.Errorf("read HAProxy's statistics: a row has %d columns of %d", len(row), width)
		}
		if row[at["type"]] != typeServer {
			continue
		}
		out = append(out, stat(func(name string) string { return row[at[name]] }))
	}
}

// stat leaves out what cannot be read: a server without an address is still there.
func stat(column func(string) string) Stat {
	s := Stat{
		Backend: strings.Clone(column("pxname")), Server: strings.Clone(column("svname")), Status: strings.Clone(column("status")),
		Check: strings.Clone(strings.TrimPrefix(column("check_status"), "* ")), // a check is under way
	}
	s.Code, _ = strconv.Atoi(column("check_code"))
	s.Sessions, _ = strconv.Atoi(column("scur"))
	s.Changed, _ = strconv.Atoi(column("lastchg"))
	s.Address, _ = netip.ParseAddrPort(column("addr"))
	return s
}
