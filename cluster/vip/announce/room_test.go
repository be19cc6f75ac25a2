package announce

import (
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// machine is a FAKE host: it remembers what is written, and its disk breaks when it is told to.
type machine struct {
	rack    string
	former  netip.Addr
	broken  error
	configs []spoken.Config
	wishes  []spoken.Wish
	ended   int
}

func (m *machine) Rack() (string, error) { return m.rack, m.broken }

func (m *machine) Former() netip.Addr { return m.former }

func (m *machine) Configure(c spoken.Config) error {
	m.configs = append(m.configs, c)
	return m.broken
}

func (m *machine) Wish(w spoken.Wish) error {
	m.wishes = append(m.wishes, w)
	return m.broken
}

func (m *machine) End() error {
	m.ended++
	return m.broken
}

// TestAnnounce holds that each round writes a wish with the time, that a round in which nothing could
// be seen goes on by what is known and by the checks as they are, and that a room which has seen
// nothing yet leaves the files of the run before it.
func TestAnnounce(t *testing.T) {
	at, passes := time.Unix(1000, 0), all()
	m, log := &machine{}, &strings.Builder{}
	r := New(Options{Plan: compile(t, nil), Role: role.Master, Host: m, Now: func() time.Time { return at }, Log: slog.New(slog.NewTextHandler(log, nil)),
		Passes: func(name vrrp.CheckName) bool { return passes(name) }})
	if r.Announce(nil); len(m.configs)+len(m.wishes) > 0 || len(r.Absent()) > 0 {
		t.Errorf("it has seen nothing: %+v", m)
	}
	seen := Seen{Links: host("10.1.1.10/24"), Open: true, Rank: -1}
	r.Announce(&seen)
	at, passes = at.Add(time.Second), all(vrrp.CheckIngress)
	r.Announce(nil)
	if len(m.wishes) != 2 || grades(m.wishes[0].Routes) != "5:4 7:4 6:0" || grades(m.wishes[1].Routes) != "5:4 7:4" || !m.wishes[1].Beat.Equal(at) || len(m.configs) != 2 || m.configs[1].Router != ip("10.1.1.10") {
		t.Errorf("%+v", m)
	}
	if a := r.Absent(); len(a) != 1 || a[0].VIP != ip("198.51.100.6") {
		t.Errorf("%+v", a)
	}
	lines := strings.Count(log.String(), "\n")
	r.Announce(&seen)
	if strings.Count(log.String(), "\n") != lines {
		t.Errorf("what has not changed is logged again:\n%s", log)
	}
	m.rack = "b"
	r.Announce(&seen)
	m.broken = errors.New("the disk is broken")
	r.Announce(&seen)
	if c := m.configs[len(m.configs)-1]; c.Peers[0].Address != ip("10.1.2.1") || len(m.wishes) != 5 {
		t.Errorf("a name that cannot be read is forgotten: %+v", c)
	}
	r.Announce(&seen)
	if err := r.End(); err == nil || !strings.Contains(err.Error(), "in order: the disk is broken") || m.ended != 1 {
		t.Errorf("%v, ended %d times", err, m.ended)
	}
	if strings.Count(log.String(), "the disk is broken") == 0 || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("%s", log)
	}
}
