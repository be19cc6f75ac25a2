// Package spoken has the files that a host's monitor and its speaker exchange: what the host is
// to announce, how it reaches its routers, and what the speaker reports.
package spoken

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// The places on a host.
const (
	RunDir = "/run/onprem-infra/speak" // of the files below, in both phases
	// PasswordsFile has the routers' passwords, for root alone; see Passwords.
	PasswordsFile = "/etc/onprem-infra-speaker/passwords"
	// RackFile has the name of the host's rack, if it is in one of a name.
	RackFile = "/etc/onprem-infra/rack"
)

// The files of RunDir.
const (
	ConfigFile = "config.json" // by the monitor, and without secrets
	WishFile   = "wish.json"   // by the monitor, once a second at least
	LeaveFile  = "leave"       // while it exists, everything ends in order
	StatusFile = "status.json" // by the speaker
	// MonitorFile is locked by the monitor from its first wish on (F_OFD_SETLK), and removed by
	// one that ends in order. If it is there and not locked, the monitor has died.
	MonitorFile = "monitor"
	LockFile    = "lock" // locked by the one speaker that uses the directory
)

// version is that of the files. With another one the fields mean something else.
const version = 1

// Config is how a host reaches its routers, as a file has it.
type Config struct {
	ASN         bgp.ASN
	Router      netip.Addr
	Timing      bgp.Timing
	VIPs        []netip.Addr
	Communities []string `json:",omitempty"`
	Peers       []Peer
	// Links are those of networks in which a VIP is: on them this host does not answer for the
	// VIPs of its loopback interface.
	Links []string `json:",omitempty"`
}

// Peer is a router, without its password.
type Peer struct {
	Address     netip.Addr `json:",omitzero"`
	Interface   string     `json:",omitempty"`
	ASN         bgp.ASN    `json:",omitempty"`
	Source      netip.Addr `json:",omitzero"`
	Hops        int        `json:",omitempty"`
	TTLSecurity bool       `json:",omitempty"`
}

// With is the configuration for FRR, with the passwords by the names of peers. A password of no
// peer is left out.
func (c Config) With(passwords map[string]secret.Text) frr.Config {
	out := frr.Config{ASN: c.ASN, Router: c.Router, Timing: c.Timing, VIPs: slices.Clone(c.VIPs),
		Communities: slices.Clone(c.Communities)}
	for _, p := range c.Peers {
		peer := frr.Peer{Address: p.Address, Interface: p.Interface, ASN: p.ASN, Source: p.Source,
			Hops: p.Hops, TTLSecurity: p.TTLSecurity}
		peer.Password = passwords[peer.Name()]
		out.Peers = append(out.Peers, peer)
	}
	return out
}

// Wrong lists what is invalid in a configuration, before any daemon is asked: an address may be
// the zero value, a name have a blank, or a router be there twice. It is empty if all is valid.
func (c Config) Wrong() (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if !c.Router.Is4() {
		add("Router: %q is no IPv4 address, which an identifier is", c.Router)
	}
	for _, text := range c.Timing.Wrong() {
		add("Timing: %s", text)
	}
	for i, vip := range c.VIPs {
		if !vip.IsValid() || vip.Is4In6() || vip.Zone() != "" {
			add("VIPs[%d]: %q is no address of a VIP", i, vip)
		} else if slices.Index(c.VIPs, vip) != i {
			add("VIPs[%d]: %s is there twice", i, vip)
		}
	}
	for i, community := range c.Communities {
		if !plain(community) {
			add("Communities[%d]: %q is no community", i, community)
		}
	}
	for i, p := range c.Peers {
		switch {
		case p.Address.IsValid() == (p.Interface != ""):
			add("Peers[%d]: it has an address and an interface, or neither", i)
		case p.Interface != "" && !plain(p.Interface):
			add("Peers[%d]: %q is no interface", i, p.Interface)
		case slices.IndexFunc(c.Peers, func(o Peer) bool { return o.name() == p.name() }) != i:
			add("Peers[%d]: %s is there twice", i, p.name())
		}
	}
	return all
}

// name is how FRR names the session.
func (p Peer) name() string {
	return frr.Peer{Address: p.Address, Interface: p.Interface}.Name()
}

// plain reports whether a text is one word of a command.
func plain(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~'
	})
}

// Route is a VIP that a host serves.
type Route struct {
	VIP       netip.Addr
	Grade     bgp.Grade
	Demotions []bgp.Grade // the grades by which it leaves, one after the other
	Behind    bool        `json:",omitempty"` // see speak.Route, as the next one
	Ends      bool        `json:",omitempty"`
	Leaves    bool        `json:",omitempty"`
}

// Wish is what a monitor wants.
type Wish struct {
	// Beat is the host's time when it was written. A change of it is a heartbeat, whatever the time
	// is: clocks are set.
	Beat   time.Time
	Routes []Route
}

// Speak is the wish for the decision, and whether the host is to leave.
func (w Wish) Speak(leaving bool) speak.Wish {
	out := speak.Wish{Beat: w.Beat, Leaving: leaving,
		VIPs: map[netip.Addr]speak.Route{}}
	for _, r := range w.Routes {
		out.VIPs[r.VIP] = speak.Route{Grade: r.Grade, Demotions: slices.Clone(r.Demotions),
			Behind: r.Behind, Ends: r.Ends, Leaves: r.Leaves}
	}
	return out
}

// Status is what a speaker reports.
type Status struct {
	At       time.Time
	Up       time.Duration `json:",omitempty"` // how long the kernel had run then; see By
	Daemons  []Daemon
	Sessions []Session
	VIPs     []VIP
	Left     bool    // all has ended in order
	Monitor  Monitor `json:",omitempty"`
	// BFDTaken names what receives BFD's packets instead of the speaker's daemon; empty for
	// nothing. Sessions are then without BFD until the speaker starts anew.
	BFDTaken string   `json:",omitempty"`
	Troubles []string `json:",omitempty"` // what does not work now
}

// By is the status with its times converted to the present clock, which may have been set since
// then. up is how long the kernel has run by now.
func (s Status) By(now time.Time, up time.Duration) Status {
	if s.At.IsZero() || s.Up == 0 {
		return s // of a former release
	}
	at := now.Add(s.Up - up)
	by := at.Sub(s.At)
	s.At, s.Sessions, s.VIPs = at, slices.Clone(s.Sessions), slices.Clone(s.VIPs)
	for i := range s.Sessions {
		if since := &s.Sessions[i].Since; !since.IsZero() {
			*since = since.Add(by)
		}
	}
	for i := range s.VIPs {
		if since := &s.VIPs[i].Since; !since.IsZero() {
			*since = since.Add(by)
		}
	}
	return s
}

// Monitor is what a speaker knows of its host's monitor, by its own clock.
type Monitor string

// The states. A monitor that ends in order, and so may be replaced, works until it is silent.
const (
	Works Monitor = ""
	Died  Monitor = "died" // it ended without order, and the VIPs are demoted
	// Silent is one that has written no wish for speak.Silence: the host leaves VIPs to others.
	Silent Monitor = "silent"
)

// Daemon is one of FRR's programs.
type Daemon struct {
	Name    frr.Daemon
	Running bool
	Starts  int // since the speaker has started
}

// Session is a session with a router.
type Session struct {
	Peer  string
	State string
	Since time.Time `json:",omitzero"` // it is established
	BFD   string    `json:",omitempty"`
	// Why is what ended the last session.
	Why  string `json:",omitempty"`
	Code string `json:",omitempty"` // of a notification
	// Flaps is how often a session has ended since the speaker has started.
	Flaps int `json:",omitempty"`
	// Advertised are the VIPs that the router has from this host.
	Advertised []netip.Addr
}

// VIP is the state of a VIP.
type VIP struct {
	VIP    netip.Addr
	Phase  speak.Phase
	Since  time.Time
	Grade  bgp.Grade // while it is announced
	Others []Other   `json:",omitempty"`
	// Own are the sessions whose router reports the path of this host itself.
	Own []string `json:",omitempty"`
}

// Other is another host that has the VIP, as a router reports.
type Other struct {
	Session   string
	Announcer netip.Addr `json:",omitzero"` // none for a host that is not the cluster's
	Length    int        // of the path
}

// Encode writes one of the files.
func Encode[T Config | Wish | Status](v T) []byte {
	text, err := json.MarshalIndent(struct {
		Version int
		Is      T
	}{version, v}, "", "  ")
	if err != nil {
		panic("spoken: texts, numbers and times cannot fail to marshal: " + err.Error())
	}
	return append(text, '\n')
}

// Decode reads one of the files, all of it or nothing.
func Decode[T Config | Wish | Status](text []byte) (T, error) {
	var f struct {
		Version int
		Is      T
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(&f)
	if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("more follows it")
	}
	if err == nil && f.Version != version {
		err = fmt.Errorf("its version is %d, this release reads %d", f.Version, version)
	}
	if err != nil {
		var none T
		return none, fmt.Errorf("read %T: %w", none, err)
	}
	return f.Is, nil
}

// Passwords reads lines of a peer's name and its password, by the names as peers have them: an
// address may be written in another form. Of two lines of a peer it takes the last one. Empty
// lines, and those that begin with #, are left out. No error has a password.
func Passwords(text string) (map[string]secret.Text, error) {
	lines, err := PasswordLines(text)
	if err != nil {
		return nil, err
	}
	all := map[string]secret.Text{}
	for _, l := range lines {
		all[l.Peer] = l.Password
	}
	return all, nil
}

// PasswordLine is a line with a peer's password.
type PasswordLine struct {
	Number   int // from 1 on
	Peer     string
	Password secret.Text
}

// PasswordLines are the lines of that text that have a password.
func PasswordLines(text string) (all []PasswordLine, err error) {
	for i, line := range bytes.Split([]byte(text), []byte("\n")) {
		words := bytes.Fields(line)
		switch {
		case len(words) == 0 || words[0][0] == '#':
		case len(words) != 2:
			return nil, fmt.Errorf("line %d: write a router's address or interface, a blank and "+
				"its password, which has no blank", i+1)
		case len(words[1]) > longest:
			return nil, fmt.Errorf("line %d: the password has more than %d bytes, the most that "+
				"a kernel takes (RFC 2385)", i+1, longest)
		case !secret.New(string(words[1])).Word():
			return nil, fmt.Errorf("line %d: the password has a control character: choose "+
				"one without", i+1)
		default:
			name := string(words[0])
			if a, err := netip.ParseAddr(name); err == nil {
				name = a.String()
			}
			all = append(all, PasswordLine{i + 1, name, secret.New(string(words[1]))})
		}
	}
	return all, nil
}

const longest = 80
