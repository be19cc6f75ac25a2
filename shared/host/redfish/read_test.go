package redfish

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

const planted = "pl4nted-s3cret"

// bmc is a FAKE BMC of one machine, and how to read it.
type bmc struct {
	*fakebmc.BMC
	service Service
	running fakebmc.Running
}

func start(t *testing.T, c fakebmc.Certificate, q fakebmc.Quirks, machines ...fakebmc.Machine) bmc {
	t.Helper()
	if len(machines) == 0 {
		machines = []fakebmc.Machine{fakebmc.Sample(1)}
	}
	fake := fakebmc.New(fakebmc.Options{User: "admin", Password: planted, Vendor: "FAKE",
		Product: "F1", Machines: machines})
	fake.Set(q)
	running := fakebmc.Start(t, fake, c)
	return bmc{BMC: fake, running: running, service: Service{Options: wire.Options{
		URL: running.URL, Username: "admin", Password: func() string { return planted },
		Verify: wire.Verify{Mode: wire.ByCA, Pool: running.Pool}, Timeout: patience(q),
	}, System: "/redfish/v1/Systems/1"}}
}

// patience is long where an answer comes, as the machine may be busy.
func patience(q fakebmc.Quirks) time.Duration {
	if q.Delay > 0 {
		return 300 * time.Millisecond
	}
	return 30 * time.Second
}

func (b bmc) read(t *testing.T) Facts {
	t.Helper()
	facts := Read(t.Context(), b.service)
	requests := b.Requests()
	for _, r := range requests {
		if r.Method != http.MethodGet {
			t.Errorf("sent %s %s", r.Method, r.Path)
		}
	}
	text := fmt.Sprintf("%+v %+v %+v", facts, facts.System, facts.Chain)
	if strings.Contains(text, planted) {
		t.Errorf("the password is in %s", text)
	}
	if b.Sessions() != 0 {
		t.Error("a session is left")
	}
	if facts.Sent > 64 {
		t.Errorf("%d requests", facts.Sent)
	}
	return facts
}

func TestRead(t *testing.T) {
	b := start(t, fakebmc.Certificate{}, fakebmc.Quirks{Tasks: 2})
	f := b.read(t)
	s := f.System
	switch {
	case f.Reach != Reached || f.Login != Accepted || s == nil || len(f.Unread) > 0:
		t.Fatalf("%+v", f)
	case f.Root.Version != "1.6.0" || f.Root.Vendor != "FAKE" || f.Root.Product != "F1":
		t.Errorf("root %+v", f.Root)
	case !f.Chain.Verified || !f.Chain.Trusted || f.Chain.Pin != b.running.Pin:
		t.Errorf("chain %+v", f.Chain)
	case !f.Clock.Known || math.Abs(f.Clock.Ahead.Seconds()) > 5:
		t.Errorf("clock %+v", f.Clock)
	case f.Account.Role != "Administrator" || f.Tasks != 2 || f.Sessions != 0:
		t.Errorf("account %+v, %d tasks, %d sessions", f.Account, f.Tasks, f.Sessions)
	case s.UUID != fakebmc.Sample(1).UUID || s.Serial != "SN0001" || s.Power != "Off":
		t.Errorf("system %+v", s)
	case s.Boot.Mode != "UEFI" || s.Boot.Enabled != "Disabled" ||
		!slices.Contains(s.Boot.Targets, "Pxe"):
		t.Errorf("boot %+v", s.Boot)
	case s.MemoryGiB != 64 || s.Processors != 2 || s.SecureBoot == nil || *s.SecureBoot:
		t.Errorf("system %+v", s)
	case len(s.Ports) != 2 || s.Ports[0] != (Port{"1", "52:54:00:00:01:01", "LinkUp"}):
		t.Errorf("ports %+v", s.Ports)
	case len(s.Disks) != 2 || !s.DisksSeen || s.Disks[0].WWN != "5002538F00000001" ||
		*s.Disks[0].Rotational || !*s.Disks[1].Rotational || s.Disks[1].Bytes != 8e12:
		t.Errorf("disks %+v", s.Disks)
	case len(f.Manager.Media) != 2 || !f.Manager.Media[0].CD() || f.Manager.Media[1].CD() || f.Manager.Media[0].Inserted || f.Manager.Media[1].Inserted:
		t.Errorf("manager %+v", f.Manager)
	}
}

// TestRead_Variants has what services of several makes differ in.
func TestRead_Variants(t *testing.T) {
	usb := fakebmc.Sample(1)
	usb.Disks = append(usb.Disks, fakebmc.Disk{Name: "USB", Bytes: 8e9, Protocol: "USB"})
	for name, tt := range map[string]struct {
		quirks  fakebmc.Quirks
		machine fakebmc.Machine
		system  string
		holds   func(Facts) bool
	}{
		"the only system is found": {fakebmc.Quirks{}, fakebmc.Sample(1), "",
			func(f Facts) bool { return f.System.Serial == "SN0001" }},
		"a slash at the end": {fakebmc.Quirks{}, fakebmc.Sample(1), "/redfish/v1/Systems/1/",
			func(f Facts) bool { return f.System.Serial == "SN0001" }},
		"another path": {fakebmc.Quirks{}, fakebmc.Sample(1), "/redfish/v1/Managers/1",
			func(f Facts) bool { return f.System == nil && len(f.Systems) == 1 }},
		"values of other types": {fakebmc.Quirks{Loose: true}, fakebmc.Sample(1), "",
			func(f Facts) bool {
				disk := f.System.Disks[0]
				return disk.Bytes == 480e9 && disk.Serial != "" && f.System.Model == "" &&
					f.System.MemoryGiB == 64 && f.System.Processors == 2
			}},
		"nothing but the system": {fakebmc.Quirks{Bare: true}, fakebmc.Sample(1), "",
			func(f Facts) bool { return f.System.Ports == nil && f.System.SecureBoot == nil }},
		"the manager without links": {fakebmc.Quirks{Bare: true}, fakebmc.Sample(1), "",
			func(f Facts) bool { return len(f.Manager.Media) == 2 }},
		"ports of the chassis": {fakebmc.Quirks{Adapters: true}, fakebmc.Sample(1), "",
			func(f Facts) bool { return len(f.System.Ports) == 2 }},
		"a volume hides its drives": {fakebmc.Quirks{RAID: true}, fakebmc.Sample(1), "",
			func(f Facts) bool { return len(f.System.Disks) == 1 && f.System.Disks[0].Volume }},
		"a removable disk": {fakebmc.Quirks{}, usb, "",
			func(f Facts) bool { return f.System.Disks[2].Removable && !f.System.Disks[0].Removable }},
		"no licence for media": {fakebmc.Quirks{NoInsert: true}, fakebmc.Sample(1), "",
			func(f Facts) bool { return !f.Manager.Media[0].Insert }},
		"a clock that is ahead": {fakebmc.Quirks{ClockAhead: time.Hour}, fakebmc.Sample(1), "",
			func(f Facts) bool { return f.Clock.Ahead.Round(time.Minute) == time.Hour }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, fakebmc.Certificate{}, tt.quirks, tt.machine)
			b.service.System = tt.system
			if f := b.read(t); f.Login != Accepted || !tt.holds(f) {
				t.Errorf("%+v, system %+v", f, f.System)
			}
		})
	}
}

// TestRead_NoLinks has two machines of a BMC that does not link them with their managers.
func TestRead_NoLinks(t *testing.T) {
	b := start(t, fakebmc.Certificate{}, fakebmc.Quirks{Bare: true}, fakebmc.Sample(1), fakebmc.Sample(2))
	if f := b.read(t); f.System == nil || f.Manager.Path != "" {
		t.Errorf("the manager is %+v", f.Manager)
	}
}

// TestRead_Faults has BMCs that are broken or hostile.
func TestRead_Faults(t *testing.T) {
	for name, tt := range map[string]struct {
		quirks fakebmc.Quirks
		reach  Reach
		login  Login
		why    string
	}{
		"starting":         {fakebmc.Quirks{Booting: true}, Busy, NotTried, "503"},
		"factory password": {fakebmc.Quirks{MustChange: true}, Reached, Forbidden, "PasswordChange"},
		"session limit": {fakebmc.Quirks{SessionLimit: 1, OtherSessions: 1}, Reached, Failed,
			"SessionLimitExceeded"},
		"HTML":          {fakebmc.Quirks{HTML: true}, Reached, Failed, "text/html instead"},
		"huge":          {fakebmc.Quirks{Huge: true}, Reached, Failed, "more than 1048576"},
		"endless":       {fakebmc.Quirks{Endless: true}, Reached, Failed, "more than 1048576"},
		"redirect loop": {fakebmc.Quirks{RedirectLoop: true}, Foreign, NotTried, "without end"},
		"redirect away": {fakebmc.Quirks{RedirectAway: "http://192.0.2.1/"}, Foreign, NotTried,
			"another host"},
		"slow":             {fakebmc.Quirks{Delay: 3 * time.Second}, Unseen, NotTried, "no answer in time"},
		"changed password": {fakebmc.Quirks{PasswordAfter: 4}, Reached, Withdrawn, "401"},
		"loops of members": {fakebmc.Quirks{LoopMembers: true}, Reached, Accepted, ""},
		"flaps":            {fakebmc.Quirks{Flapping: true}, Reached, Accepted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, fakebmc.Certificate{}, tt.quirks)
			f := b.read(t)
			// The one after the change of the password is the last.
			if after := tt.quirks.PasswordAfter; after > 0 && len(b.Requests()) != 1+after+1 {
				t.Errorf("%d requests", len(b.Requests()))
			}
			if f.Reach != tt.reach || f.Login != tt.login || !strings.Contains(f.Why, tt.why) {
				t.Errorf("%s, %s, %q, want %+v", f.Reach, f.Login, f.Why, tt)
			}
		})
	}
}

// TestRead_WrongPassword holds that a refused login is tried once: BMCs lock accounts.
func TestRead_WrongPassword(t *testing.T) {
	b := start(t, fakebmc.Certificate{}, fakebmc.Quirks{Echo: true})
	b.service.Password = func() string { return "wr0ng-" + planted }
	f := b.read(t)
	if f.Login != Rejected || len(b.Requests()) != 2 {
		t.Errorf("login %s after %d requests", f.Login, len(b.Requests()))
	}
	if !strings.Contains(f.Why, "(hidden)") {
		t.Errorf("the BMC repeated the password, and it is not hidden in %q", f.Why)
	}
}

// TestRead_Certificates holds that no password is sent to a certificate that is not trusted.
func TestRead_Certificates(t *testing.T) {
	for name, tt := range map[string]struct {
		certificate fakebmc.Certificate
		verify      func(fakebmc.Running) wire.Verify
		trusted     bool
		problem     string
	}{
		"CA": {verify: byCA, trusted: true},
		"unknown CA": {verify: func(fakebmc.Running) wire.Verify { return wire.Verify{} },
			problem: "unknown authority"},
		"expired": {fakebmc.Certificate{Expired: time.Hour}, byCA, false, "expired"},
		"another name": {fakebmc.Certificate{Name: "bmc.example.com"}, byCA, false,
			"any IP SANs"},
		"pin": {verify: func(r fakebmc.Running) wire.Verify {
			return wire.Verify{Mode: wire.ByPin, Pin: "SHA256:" + strings.ToUpper(r.Pin)}
		}, trusted: true, problem: "unknown authority"},
		"another pin": {verify: func(fakebmc.Running) wire.Verify {
			return wire.Verify{Mode: wire.ByPin, Pin: strings.Repeat("0", 64)}
		}, problem: "unknown authority"},
		"no pin": {verify: func(fakebmc.Running) wire.Verify { return wire.Verify{Mode: wire.ByPin} },
			problem: "unknown authority"},
		"off": {fakebmc.Certificate{Expired: time.Hour},
			func(fakebmc.Running) wire.Verify { return wire.Verify{Mode: wire.Off} }, true, "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, tt.certificate, fakebmc.Quirks{})
			b.service.Verify = tt.verify(b.running)
			f := b.read(t)
			if f.Chain == nil || f.Chain.Trusted != tt.trusted || (f.Login == Accepted) != tt.trusted ||
				!strings.Contains(f.Chain.Problem, tt.problem) || f.Chain.Verified != (tt.problem == "") {
				t.Errorf("login %s, chain %+v", f.Login, f.Chain)
			}
			for _, r := range b.Requests() {
				if !tt.trusted && r.Authorization != "" {
					t.Errorf("the password was sent with %s", r.Path)
				}
			}
		})
	}
}

func byCA(r fakebmc.Running) wire.Verify { return wire.Verify{Mode: wire.ByCA, Pool: r.Pool} }

// TestRead_Unreached has services that are none.
func TestRead_Unreached(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	closed.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for url, want := range map[string]Reach{
		"https://" + address: Refused,
		plain.URL:            Foreign,
		"https://" + strings.TrimPrefix(plain.URL, "http://"): Foreign,
		"https://[fe80::1%25nosuchlink]":                      Unseen,
		"https://" + silent.Addr().String():                   Unseen,
		"bmc1":                                                Unseen,
		"https://%zz":                                         Unseen,
		"https://admin:" + planted + "@127.0.0.1":             Unseen,
		"https://admin:" + planted + "@%zz":                   Unseen,
	} {
		wait := 30 * time.Second // the machine may be busy
		if want == Unseen {
			wait = 300 * time.Millisecond
		}
		f := Read(t.Context(), Service{Options: wire.Options{URL: url, Timeout: wait}})
		if f.Reach != want || f.Why == "" || f.Login != NotTried || f.Sent > 1 ||
			strings.Contains(f.Why, planted) {
			t.Errorf("%s: %+v, want %s", url, f, want)
		}
	}
}

// FuzzDocuments has a BMC whose every document is random.
func FuzzDocuments(f *testing.F) {
	f.Add(`{"Systems":{"@odata.id":"/x"},"Members":[{"@odata.id":"/x"}],"Boot":{}}`, "/x")
	f.Add(`{"Members":[{"@odata.id":"//host/x"},7,null],"Drives":[{"@odata.id":"/x#1"}]}`, "")
	f.Add(`{"Members":[{"@odata.id":"/x","Drives":[{"@odata.id":"/y"}],"Volumes":{"@odata.id":"/x"}}],
		"Systems":{"@odata.id":"/x"},"Storage":{"@odata.id":"/x"},"CapacityBytes":"1e999"}`, "/x")
	f.Fuzz(func(t *testing.T, document, system string) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(document))
		}))
		defer server.Close()
		facts := Read(t.Context(), Service{System: system,
			Options: wire.Options{URL: server.URL, Username: "u", Timeout: time.Second}})
		if facts.Sent > 64 || len(facts.Unread) > wire.MaxMembers {
			t.Errorf("%d requests, %d documents unread", facts.Sent, len(facts.Unread))
		}
	})
}
