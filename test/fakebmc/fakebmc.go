// Package fakebmc is a FAKE BMC that speaks Redfish (DSP0266), with the faults of real ones. Its
// machines are values, or what a command starts, such as qemu.
package fakebmc

import (
	"crypto/rand"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options describe a BMC.
type Options struct {
	User, Password  string
	Vendor, Product string
	Machines        []Machine
	// Power changes a machine's power, nil for none. It is called without a lock, and in order.
	Power func(Machine, Change) error
	// IsOn is whether a machine runs, nil if only the BMC changes that.
	IsOn func(id string) (bool, error)
}

// Machine is one that a BMC manages.
type Machine struct {
	ID, UUID, Serial, Manufacturer, Model string
	Arch                                  string // x86 or ARM; empty: x86
	Legacy                                bool   // starts by BIOS instead of UEFI
	SecureBoot                            bool
	On                                    bool
	MemoryGiB, CPUs                       int
	Ports                                 []Port
	Disks                                 []Disk
	Media                                 string // the image that is inserted
}

// Port is a port of a machine's network card.
type Port struct{ MAC, Link string }

// Disk is a disk of a machine.
type Disk struct {
	Name, Model, Vendor, Serial, WWN string
	Bytes                            int64
	Media                            string // SSD or HDD
	Protocol                         string
}

// Change is one of a machine's power.
type Change struct {
	On    bool
	Boot  string // the source that the machine starts from: Hdd, Pxe, Cd, UefiHttp
	Mode  string // UEFI or Legacy
	Media string // the image in the virtual CD
	HTTP  string // the address of UefiHttp
	// Graceful asks the operating system to end, which it may ignore. With IsOn the machine counts
	// as on until it has ended.
	Graceful bool
}

// Quirks are the faults of a BMC; all may change while it runs.
type Quirks struct {
	MediaStuck       bool          // ejected media are reported as inserted
	ConflictAfterOff time.Duration // 409 for On, that long after power off
	Flapping         bool          // the power state differs from answer to answer
	Delay            time.Duration // before each answer
	Booting          bool          // 503 for all
	SessionLimit     int           // 503 for logins while that many sessions are open
	OtherSessions    int           // sessions of others
	HTML             bool          // a page for browsers instead of JSON, below the root
	Endless          bool          // an answer that does not end, below the root
	Huge             bool          // a document of 8 MB, below the root
	RedirectLoop     bool          // each document redirects to another one
	RedirectAway     string        // each document redirects to that address
	PasswordAfter    int           // another password counts after that many requests
	Echo             bool          // errors repeat the request's credentials
	Loose            bool          // numbers as texts, null for texts, objects for lists
	Bare             bool          // no Links, no ports, no storage, as emulated BMCs
	Adapters         bool          // ports only below the chassis
	LoopMembers      bool          // collections that hold themselves, again and again
	NoInsert         bool          // no InsertMedia action: a licence is missing
	ModeRefusedOn    bool          // 500 for a change of the boot mode while the machine is on
	Role             string        // of the account; empty: Administrator
	ClockAhead       time.Duration
	RAID             bool // the first two disks are one volume
	Tasks            int  // that run
	MustChange       bool // 403: the password is to be changed first
}

// Request is one that the BMC received.
type Request struct{ Method, Path, Authorization string }

// BMC is the FAKE. It is an http.Handler.
type BMC struct {
	options  Options
	mu       sync.Mutex
	quirks   Quirks
	machines []*machine
	sessions map[string]bool
	requests []Request
	answers  int
	flaps    int
}

// machine is the state of one.
type machine struct {
	Machine
	enabled, target, mode, http string
	slots                       map[string]string // the image in each
	offAt                       time.Time
	powering                    sync.Mutex // one change of power at a time
}

// New makes a BMC.
func New(o Options) *BMC {
	b := &BMC{options: o, sessions: map[string]bool{}}
	for _, m := range o.Machines {
		state := &machine{Machine: m, enabled: "Disabled", target: "None", mode: "UEFI",
			slots: map[string]string{"Cd": m.Media, "Usb": ""}}
		if m.Legacy {
			state.mode = "Legacy"
		}
		b.machines = append(b.machines, state)
	}
	return b
}

// Set changes the BMC's faults.
func (b *BMC) Set(q Quirks) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.quirks = q
}

// EndSessions ends all of them, as a BMC does whose account gets another password.
func (b *BMC) EndSessions() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.sessions)
}

// Requests are all that were received.
func (b *BMC) Requests() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Request(nil), b.requests...)
}

// Sessions is how many are open.
func (b *BMC) Sessions() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.sessions)
}

// ServeHTTP implements http.Handler.
func (b *BMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := strings.TrimRight(r.URL.Path, "/")
	b.mu.Lock()
	b.requests = append(b.requests, Request{r.Method, r.URL.Path, r.Header.Get("Authorization")})
	q := b.quirks
	b.mu.Unlock()
	w.Header().Set("OData-Version", "4.0")
	if q.ClockAhead != 0 {
		w.Header().Set("Date", time.Now().Add(q.ClockAhead).UTC().Format(http.TimeFormat))
	}
	if !wait(r, q.Delay) || q.spoil(w, r, p) {
		return
	}
	if open := p == "/redfish" || p == "/redfish/v1" || p == "/redfish/v1/odata"; !open {
		login := r.Method == http.MethodPost && p == sessionsPath
		if !login && !b.authorized(w, r, q) {
			return
		}
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		b.get(w, p, q)
	case http.MethodPost:
		b.post(w, r, p, q)
	case http.MethodPatch:
		b.patch(w, r, p, q)
	case http.MethodDelete:
		b.deleteSession(w, p)
	default:
		fail(w, http.StatusMethodNotAllowed, "OperationNotAllowed", "no such method")
	}
}

// wait waits unless the client goes.
func wait(r *http.Request, d time.Duration) bool {
	if d == 0 {
		return true
	}
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

// authorized checks a request's credentials, and answers if they do not suffice.
func (b *BMC) authorized(w http.ResponseWriter, r *http.Request, q Quirks) bool {
	b.mu.Lock()
	token := b.sessions[r.Header.Get("X-Auth-Token")]
	open := len(b.sessions) + q.OtherSessions
	b.answers++
	changed := b.changed(q)
	b.mu.Unlock()
	user, password, _ := r.BasicAuth()
	message := "the request is not authorized"
	if q.Echo {
		message = "refused " + r.Header.Get("Authorization") + " of " + user + " with " + password
	}
	switch {
	case q.SessionLimit > 0 && open >= q.SessionLimit && !token:
		fail(w, http.StatusServiceUnavailable, "SessionLimitExceeded", "no more sessions")
	case token:
		return true
	case changed || user != b.options.User || password != b.options.Password:
		w.Header().Set("WWW-Authenticate", `Basic realm="Redfish"`)
		fail(w, http.StatusUnauthorized, "InsufficientPrivilege", message)
	case q.MustChange:
		fail(w, http.StatusForbidden, "PasswordChangeRequired", "the password must be changed")
	default:
		return true
	}
	return false
}

// changed reports whether another password counts by now. The lock is held.
func (b *BMC) changed(q Quirks) bool { return q.PasswordAfter > 0 && b.answers > q.PasswordAfter }

// find is the machine of an ID.
func (b *BMC) find(id string) *machine {
	for _, m := range b.machines {
		if m.ID == id {
			return m
		}
	}
	return nil
}

func newToken() string { return rand.Text() }
