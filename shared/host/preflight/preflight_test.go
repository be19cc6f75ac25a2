package preflight

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/ipmi"
	"github.com/onprem-infra/onprem-infra/shared/host/redfish"
	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

const planted = "pl4nted-s3cret"

// patience is long, as the machine may be busy; haste is for BMCs that never answer.
const patience, haste = 30 * time.Second, 300 * time.Millisecond

// host is a FAKE BMC with one machine, and the target that fits it.
type host struct {
	machine     fakebmc.Machine
	certificate fakebmc.Certificate
	quirks      fakebmc.Quirks
	vendor      string
	change      func(*Target, fakebmc.Running)
}

// well is a host with which nothing is wrong.
func well() host {
	m := fakebmc.Sample(1)
	return host{machine: m, vendor: "FAKE"}
}

// observe starts the hosts' BMCs and observes them. It holds that they got no request that changes
// anything, and keep no session.
func observed(t *testing.T, hosts ...host) []Facts {
	t.Helper()
	var targets []Target
	var fakes []*fakebmc.BMC
	for i, h := range hosts {
		fake := fakebmc.New(fakebmc.Options{User: "admin", Password: planted, Vendor: h.vendor,
			Machines: []fakebmc.Machine{h.machine}})
		fake.Set(h.quirks)
		fakes = append(fakes, fake)
		running := fakebmc.Start(t, fake, h.certificate)
		target := Target{
			Host: fmt.Sprintf("host-%d", i), Scheme: "redfish", Place: fmt.Sprintf("cluster.yaml:%d", i+1),
			Service: redfish.Service{System: "/redfish/v1/Systems/" + h.machine.ID,
				Options: wire.Options{URL: running.URL, Username: "admin", Timeout: patience,
					Password: func() string { return planted }, Verify: wire.Verify{Pool: running.Pool}}},
			Want: Want{BootMAC: h.machine.Ports[0].MAC,
				Disk: rootdisk.Hints{SerialNumber: h.machine.Disks[0].Serial}},
		}
		if h.quirks.Delay > 0 {
			target.Service.Timeout = haste
		}
		if h.change != nil {
			h.change(&target, running)
		}
		targets = append(targets, target)
	}
	facts := Observe(t.Context(), targets, Options{})
	for _, fake := range fakes {
		for _, r := range fake.Requests() {
			if r.Method != http.MethodGet {
				t.Errorf("sent %s %s", r.Method, r.Path)
			}
		}
		if fake.Sessions() > 0 {
			t.Error("a session is left")
		}
	}
	return facts
}

// tomorrow is when facts are judged: after the start of each certificate and before no soon end.
func judgeAll(t *testing.T, facts []Facts) []Finding {
	t.Helper()
	for i := range facts {
		// The FAKE's certificates are short-lived.
		if f := facts[i].Redfish; f != nil && f.Chain != nil && f.Chain.Until.After(time.Now()) {
			f.Chain.Until = f.Chain.Until.Add(400 * 24 * time.Hour)
		}
	}
	found := Judge(facts, time.Now())
	for _, f := range found {
		if strings.Contains(f.String(), planted) {
			t.Errorf("the password is in %s", f)
		}
		if f.Text == "" || f.Remedy == "" || f.Vantage != "from this host" || f.Place == "" {
			t.Errorf("incomplete: %+v", f)
		}
	}
	return found
}

func TestJudge_Well(t *testing.T) {
	facts := observed(t, well())
	if found := judgeAll(t, facts); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	// All certificates end some day.
	end := facts[0].Redfish.Chain.Until
	for before, want := range map[time.Duration]string{
		-time.Hour: "expired on", 24 * time.Hour: "expires on", 31 * 24 * time.Hour: "",
	} {
		if got := fmt.Sprint(Judge(facts, end.Add(-before))); !strings.Contains(got, want) ||
			want == "" && got != "[]" {
			t.Errorf("%s before its end: %s", before, got)
		}
	}
}

// TestJudge has one fault of a BMC a row, and the findings that follow.
func TestJudge(t *testing.T) {
	quirk := func(q fakebmc.Quirks) host { h := well(); h.quirks = q; return h }
	target := func(change func(*Target, fakebmc.Running)) host { h := well(); h.change = change; return h }
	machine := func(change func(*fakebmc.Machine)) host { h := well(); change(&h.machine); return h }
	make := func(vendor, scheme string) host {
		h := target(func(t *Target, _ fakebmc.Running) { t.Scheme = scheme })
		h.vendor = vendor
		return h
	}
	verify := func(v wire.Verify) host {
		return target(func(t *Target, r fakebmc.Running) {
			if v.Mode == wire.ByPin && v.Pin == "" {
				v.Pin = r.Pin
			}
			t.Service.Verify = v
		})
	}
	hints := func(h rootdisk.Hints) host {
		return target(func(t *Target, _ fakebmc.Running) { t.Want.Disk = h })
	}
	twins := func(m *fakebmc.Machine) { m.Disks[1].Bytes = m.Disks[0].Bytes }
	for name, tt := range map[string]struct {
		host host
		want []string // check, severity and a part of the finding
	}{
		"starting":         {quirk(fakebmc.Quirks{Booting: true}), []string{"bmc-reach error 503"}},
		"slow":             {quirk(fakebmc.Quirks{Delay: 3 * time.Second}), []string{"bmc-reach unseen no answer in time"}},
		"redirects":        {quirk(fakebmc.Quirks{RedirectLoop: true}), []string{"bmc-reach error without end"}},
		"a page":           {quirk(fakebmc.Quirks{HTML: true}), []string{"bmc-login error text/html"}},
		"endless":          {quirk(fakebmc.Quirks{Endless: true}), []string{"bmc-login error more than 1048576"}},
		"no room":          {quirk(fakebmc.Quirks{SessionLimit: 1, OtherSessions: 1}), []string{"sessions error log out other users"}},
		"many sessions":    {quirk(fakebmc.Quirks{OtherSessions: 5}), []string{"sessions warning 5 sessions"}},
		"tasks":            {quirk(fakebmc.Quirks{Tasks: 2}), []string{"sessions warning 2 tasks"}},
		"factory password": {quirk(fakebmc.Quirks{MustChange: true}), []string{"bmc-login error PasswordChangeRequired"}},
		"password changed": {quirk(fakebmc.Quirks{PasswordAfter: 3}), []string{"bmc-login error then no longer"}},
		"read only":        {quirk(fakebmc.Quirks{Role: "ReadOnly"}), []string{"bmc-role error may only read"}},
		"operator":         {quirk(fakebmc.Quirks{Role: "Operator"}), []string{"bmc-role warning Operator"}},
		"clock ahead":      {quirk(fakebmc.Quirks{ClockAhead: time.Hour}), []string{"bmc-clock warning ahead"}},
		"clock behind":     {quirk(fakebmc.Quirks{ClockAhead: -time.Hour}), []string{"bmc-clock warning behind"}},
		"bare":             {quirk(fakebmc.Quirks{Bare: true}), []string{"boot-mac unseen no ports", "root-disk unseen no disks"}},
		"wrong password": {target(func(t *Target, _ fakebmc.Running) {
			t.Service.Password = func() string { return planted + "x" }
		}), []string{"bmc-login error rejects user \"admin\""}},
		"plain text": {target(func(t *Target, _ fakebmc.Running) {
			t.Service.URL = strings.Replace(t.Service.URL, "https", "http", 1)
		}), []string{"bmc-reach error no Redfish service"}},
		"nothing listens": {target(func(t *Target, _ fakebmc.Running) { t.Service.URL = "https://127.0.0.1:1" }),
			[]string{"bmc-reach error nothing listens"}},
		"a user in the address": {target(func(t *Target, _ fakebmc.Running) {
			t.Service.URL = strings.Replace(t.Service.URL, "//", "//admin:"+planted+"@", 1)
		}), []string{"bmc-reach unseen fields of their own"}},
		"no route": {target(func(t *Target, _ fakebmc.Running) { t.Service.URL = "https://[fe80::1%25nosuchlink]" }),
			[]string{"bmc-reach unseen run the checks on a host that reaches"}},
		"unknown CA":  {verify(wire.Verify{}), []string{"bmc-tls error add it or its CA to bmcCA (bmcVerifyCA of an install-config): 'openssl s_client -showcerts -connect 127.0.0.1:", "bmc-login unseen not sent"}},
		"another pin": {verify(wire.Verify{Mode: wire.ByPin, Pin: "00"}), []string{"bmc-tls error another certificate", "bmc-login unseen"}},
		"the pin":     {verify(wire.Verify{Mode: wire.ByPin}), nil},
		"off":         {verify(wire.Verify{Mode: wire.Off}), []string{"bmc-tls warning not verified"}},
		"another path": {target(func(t *Target, _ fakebmc.Running) { t.Service.System = "/redfish/v1/Managers/1" }),
			[]string{"bmc-system error use /redfish/v1/Systems/1"}},
		"a path with a slash":   {target(func(t *Target, _ fakebmc.Running) { t.Service.System += "/" }), nil},
		"Dell, virtual media":   {make("Dell", "redfish-virtualmedia"), []string{"bmc-scheme error idrac-virtualmedia"}},
		"Dell, iDRAC":           {make("Dell Inc.", "idrac-virtualmedia+https"), nil},
		"not Dell, iDRAC":       {make("HPE", "idrac-virtualmedia"), []string{"bmc-scheme error use redfish-virtualmedia"}},
		"not Dell, iDRAC's PXE": {make("HPE", "idrac-redfish"), []string{"bmc-scheme error use redfish"}},
		"on":                    {machine(func(m *fakebmc.Machine) { m.On = true }), []string{"power warning overwrites"}},
		"flaps":                 {quirk(fakebmc.Quirks{Flapping: true}), []string{"power warning PoweringOn"}},
		"BIOS":                  {machine(func(m *fakebmc.Machine) { m.Legacy = true }), []string{"boot-mode warning Legacy"}},
		"secure boot is on": {machine(func(m *fakebmc.Machine) { m.SecureBoot = true }),
			[]string{"secure-boot warning unsigned"}},
		"secure boot is wanted": {target(func(t *Target, _ fakebmc.Running) { t.Want.BootMode = "UEFISecureBoot" }),
			[]string{"secure-boot warning secure boot is off"}},
		"another MAC": {target(func(t *Target, _ fakebmc.Running) { t.Want.BootMAC = "52:54:00:ff:ff:ff" }),
			[]string{"boot-mac error use one of: 52:54:00:00:01:01 (LinkUp)"}},
		"MAC in other letters": {target(func(t *Target, _ fakebmc.Running) { t.Want.BootMAC = "5254.0000.0101" }), nil},
		"no link": {target(func(t *Target, _ fakebmc.Running) { t.Want.BootMAC = "52:54:00:00:01:02" }),
			[]string{"boot-mac warning no link"}},
		"ports of the chassis": {quirk(fakebmc.Quirks{Adapters: true}), nil},
		"media inserted": {machine(func(m *fakebmc.Machine) { m.Media = "http://192.0.2.1/old.iso" }),
			[]string{"virtual-media warning old.iso"}},
		"little memory": {machine(func(m *fakebmc.Machine) { m.MemoryGiB = 2 }), []string{"memory error 2.0 GiB, and its deployment needs at least 4.0: add memory (from"}},
		"no disk meets": {hints(rootdisk.Hints{SerialNumber: "none"}), []string{"root-disk error no disk meets serialNumber: none"}},
		"several meet":  {hints(rootdisk.Hints{MinSizeGigabytes: 100}), []string{`root-disk error such as serialNumber: "D0001-1"`}},
		"no hints":      {hints(rootdisk.Hints{}), []string{"root-disk warning takes the smallest disk: Bay 1"}},
		"no hints, and the bootstrap machine installs it": {target(func(t *Target, _ fakebmc.Running) { t.Want.Disk, t.Want.Ours = rootdisk.Hints{}, true }),
			[]string{"root-disk error installs no host of which more than one disk may be meant: Bay 1"}},
		"a volume, and the bootstrap machine installs it": {func() host {
			h := quirk(fakebmc.Quirks{RAID: true})
			h.change = func(t *Target, _ fakebmc.Running) { t.Want.Disk, t.Want.Ours = rootdisk.Hints{}, true }
			return h
		}(), nil},
		"a kernel name": {hints(rootdisk.Hints{DeviceName: "/dev/sda"}), []string{"root-disk unseen 2 disks may meet"}},
		"a size in GB":  {hints(rootdisk.Hints{MinSizeGigabytes: 7500}), []string{"root-disk error 7450.6 GiB"}},
		"a volume":      {func() host { h := quirk(fakebmc.Quirks{RAID: true}); h.change = noHints; return h }(), nil},
		"equal disks": {func() host { h := machine(twins); h.change = noHints; return h }(),
			[]string{"root-disk error 2 disks have the same size"}},
		"removable": {func() host {
			h := machine(func(m *fakebmc.Machine) {
				m.Disks = []fakebmc.Disk{{Name: "USB", Bytes: 64e9, Protocol: "USB"}}
			})
			h.change = noHints
			return h
		}(), []string{"root-disk warning can be removed"}},
		"expired": {host{machine: fakebmc.Sample(1), certificate: fakebmc.Certificate{Expired: time.Hour},
			change: func(t *Target, _ fakebmc.Running) { t.Service.Verify.Mode = wire.Off }},
			[]string{"bmc-tls warning not verified", "bmc-tls warning expired on"}},
		"another name": {host{machine: fakebmc.Sample(1), certificate: fakebmc.Certificate{Name: "bmc"}},
			[]string{"bmc-tls error any IP SANs), and the BMC got no password: have the BMC's certificate name 127.0.0.1:", "bmc-login unseen"}},
		"expired, by its CA": {host{machine: fakebmc.Sample(1), certificate: fakebmc.Certificate{Expired: time.Hour}},
			[]string{"bmc-tls error and the BMC got no password: renew the BMC's certificate (from", "bmc-login unseen"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := judgeAll(t, observed(t, tt.host))
			ok := len(found) == len(tt.want)
			for i := 0; ok && i < len(found); i++ {
				parts := strings.SplitN(tt.want[i], " ", 3)
				f := found[i]
				ok = string(f.Check) == parts[0] && string(f.Severity) == parts[1] &&
					(len(parts) < 3 || strings.Contains(f.String(), parts[2]))
			}
			if !ok {
				t.Errorf("found %v, want %q", found, tt.want)
			}
		})
	}
}

func noHints(t *Target, _ fakebmc.Running) { t.Want.Disk = rootdisk.Hints{} }

// TestJudge_VirtualMedia has hosts that need a slot.
func TestJudge_VirtualMedia(t *testing.T) {
	h := well()
	h.change = func(t *Target, _ fakebmc.Running) { t.Scheme = "redfish-virtualmedia+http" }
	facts := observed(t, h)
	if found := judgeAll(t, facts); len(found) > 0 {
		t.Errorf("a slot that is empty: %v", found)
	}
	for want, media := range map[string][]redfish.Slot{
		"virtual-media unseen": nil,
		"virtual-media error no slot of virtual media takes a CD": {{Types: []string{"USBStick"}, Insert: true}},
		"virtual-media error licence":                             {{Types: []string{"DVD"}}},
		"virtual-media warning has media":                         {{Types: []string{"CD"}, Insert: true, Inserted: true}},
	} {
		facts[0].Redfish.Manager.Media = media
		parts := strings.SplitN(want, " ", 3)
		found := judgeAll(t, facts)
		if len(found) != 1 || string(found[0].Check) != parts[0] || string(found[0].Severity) != parts[1] ||
			len(parts) > 2 && !strings.Contains(found[0].String(), parts[2]) {
			t.Errorf("found %v, want %s", found, want)
		}
	}
}

// TestJudge_Firmware holds which firmware of an iDRAC is too old for virtual media, and that no other is.
func TestJudge_Firmware(t *testing.T) {
	h := well()
	h.vendor = "Dell Inc."
	facts := observed(t, h)
	for _, tt := range []struct{ scheme, firmware, want string }{
		{"idrac-virtualmedia", "6.10.30.00", ""},
		{"idrac-virtualmedia+https", "6.10.29.99", "update it to 6.10.30.00 (iDRAC9), or use idrac-redfish"},
		{"idrac-virtualmedia", "3.36.36.36", "update it to 6.10.30.00 (iDRAC9)"},
		{"idrac-virtualmedia", "7.00.00.171", ""},
		{"idrac-virtualmedia", "2.75.100.75", ""},
		{"idrac-virtualmedia", "2.75.75.75", ""},
		{"idrac-virtualmedia", "2.70.70.70", `"2.70.70.70" of the BMC is too old to insert virtual media by Redfish: update it to 2.75.75.75 (iDRAC8)`},
		{"idrac-virtualmedia", "2.7", "2.75.75.75 (iDRAC8)"},
		{"idrac-virtualmedia", "1.20.50.50", ""}, // an iDRAC10
		{"idrac-virtualmedia", "", "does not report the version"},
		{"idrac-virtualmedia", "newest", ""},
		{"idrac-redfish", "3.36.36.36", ""},
	} {
		facts[0].Target.Scheme, facts[0].Redfish.Manager.Firmware = tt.scheme, tt.firmware
		found := judgeAll(t, facts)
		if text := fmt.Sprint(found); (len(found) > 0) != (tt.want != "") || len(found) > 1 || !strings.Contains(text, tt.want) {
			t.Errorf("%s, %q: found %v, want %q", tt.scheme, tt.firmware, found, tt.want)
		}
		for _, f := range found {
			if f.Check != CheckFirmware || f.Severity == Error != (tt.firmware != "") {
				t.Errorf("%s, %q: %+v", tt.scheme, tt.firmware, f)
			}
		}
	}
}

// TestJudge_Machine has what a BMC reports of its machine, as facts.
func TestJudge_Machine(t *testing.T) {
	facts := observed(t, well())
	good := *facts[0].Redfish.System
	for want, change := range map[string]func(*redfish.System, *Target){
		"power unseen":                      func(s *redfish.System, _ *Target) { s.Power = "" },
		"power warning PoweringOn":          func(s *redfish.System, _ *Target) { s.Power = "PoweringOn" },
		"power warning part of the cluster": func(_ *redfish.System, t *Target) { t.Want.Running = true },
		"boot-mode unseen":                  func(s *redfish.System, _ *Target) { s.Boot.Mode = "" },
		"boot-mode error only by Legacy": func(s *redfish.System, _ *Target) {
			s.Boot.Mode, s.Boot.Modes = "Legacy", []string{"Legacy"}
		},
		"boot-mode warning starts by UEFI": func(_ *redfish.System, t *Target) { t.Want.BootMode = "legacy" },
		"boot-mode warning at each boot": func(s *redfish.System, _ *Target) {
			s.Boot.Enabled, s.Boot.Target = "Continuous", "Hdd"
		},
		"secure-boot unseen": func(s *redfish.System, t *Target) {
			s.SecureBoot, t.Want.BootMode = nil, "UEFISecureBoot"
		},
		"memory unseen":                   func(s *redfish.System, _ *Target) { s.MemoryGiB = 0 },
		"memory error or use a raw image": func(_ *redfish.System, t *Target) { t.Want.MemoryGiB = 99 },
		"root-disk unseen not all disks":  func(s *redfish.System, _ *Target) { s.DisksSeen = false },
		"root-disk unseen could be read": func(s *redfish.System, t *Target) {
			s.DisksSeen, t.Want.Disk.SerialNumber = false, "x"
		},
		"root-disk error large enough": func(s *redfish.System, t *Target) {
			s.Disks, t.Want.Disk = []rootdisk.Disk{{Bytes: 1e9}}, rootdisk.Hints{}
		},
		"bmc-role error locked": func(*redfish.System, *Target) { facts[0].Redfish.Account.Locked = true },
	} {
		system, target := good, facts[0].Target
		change(&system, &target)
		seen := *facts[0].Redfish
		seen.System = &system
		facts[0].Redfish.Account.Locked = false
		parts := strings.SplitN(want, " ", 3)
		found := judgeAll(t, []Facts{{Target: target, Redfish: &seen}})
		if len(found) != 1 || string(found[0].Check) != parts[0] || string(found[0].Severity) != parts[1] ||
			len(parts) > 2 && !strings.Contains(found[0].String(), parts[2]) {
			t.Errorf("found %v, want %s", found, want)
		}
	}
}

// TestJudge_Twins has two hosts of a description that are one machine.
func TestJudge_Twins(t *testing.T) {
	two := func(change func(*fakebmc.Machine)) []host {
		other := well()
		other.machine = fakebmc.Sample(2)
		change(&other.machine)
		return []host{well(), other}
	}
	one := fakebmc.Sample(1)
	for name, tt := range map[string]struct {
		hosts []host
		want  string
	}{
		"two machines":  {two(func(*fakebmc.Machine) {}), ""},
		"one UUID":      {two(func(m *fakebmc.Machine) { m.UUID = strings.ToUpper(one.UUID) }), "UUID"},
		"one serial":    {two(func(m *fakebmc.Machine) { m.Serial = one.Serial }), "serial number SN0001"},
		"other makers":  {two(func(m *fakebmc.Machine) { m.Serial, m.Manufacturer = one.Serial, "X" }), ""},
		"a placeholder": {two(func(m *fakebmc.Machine) { m.UUID = "00000000-0000-0000-0000-000000000000" }), ""},
	} {
		found := judgeAll(t, observed(t, tt.hosts...))
		got := fmt.Sprint(found)
		if tt.want == "" && len(found) > 0 || tt.want != "" && (len(found) != 1 ||
			found[0].Check != CheckTwin || found[0].Host != "host-1" ||
			!strings.Contains(got, "host-0 and host-1 are one machine: both have "+tt.want)) {
			t.Errorf("%s: %s", name, got)
		}
	}
	same := observed(t, well())[0]
	same.Redfish.System.UUID, same.Redfish.System.Serial = "", ""
	again := same
	again.Target.Host = "host-1"
	found := judgeAll(t, []Facts{same, again})
	if len(found) != 1 || !strings.Contains(found[0].Text, "both have system /redfish/v1/Systems/1") {
		t.Errorf("one address: %v", found)
	}
	for _, id := range []string{"", "FFFFFFFF-FFFF", "To be filled by O.E.M.", "Default string", "0"} {
		if genuine(id) {
			t.Errorf("%q counts as a machine's own", id)
		}
	}
}

// TestJudge_NoSystem has BMCs whose system cannot be read.
func TestJudge_NoSystem(t *testing.T) {
	facts := observed(t, well())[0]
	facts.Redfish.System, facts.Redfish.Unread = nil, []string{"/redfish/v1/Systems/1: broken"}
	for _, tt := range []struct {
		wanted  string
		systems []string
		want    string
	}{
		{"/redfish/v1/Systems/1/", []string{"/redfish/v1/Systems/1"}, "cannot be read: /redfish"},
		{"", []string{"/redfish/v1/Systems/1", "/redfish/v1/Systems/2"}, "several systems"},
		{"", nil, "lists no system"},
	} {
		facts.Target.Service.System, facts.Redfish.Systems = tt.wanted, tt.systems
		found := judgeAll(t, []Facts{facts})
		if len(found) != 1 || found[0].Check != CheckSystem || !strings.Contains(found[0].Text, tt.want) {
			t.Errorf("found %v, want %s", found, tt.want)
		}
	}
}

// TestJudge_Ping has hosts that are reached by IPMI.
func TestJudge_Ping(t *testing.T) {
	target := Target{Host: "h", IPMI: "127.0.0.1:1", Place: "cluster.yaml:1"}
	seen := Observe(t.Context(), []Target{target}, Options{Wait: 50 * time.Millisecond})
	if p := seen[0].Ping; p == nil || !p.Refused {
		t.Errorf("observed %+v", seen[0])
	}
	for want, pong := range map[string]ipmi.Pong{
		"bmc-reach error":   {Refused: true},
		"bmc-reach unseen":  {Why: "no answer"},
		"bmc-reach warning": {Seen: true},
		"bmc-login unseen":  {Seen: true, IPMI: true},
	} {
		found := judgeAll(t, []Facts{{Target: target, Ping: &pong}})
		if len(found) != 1 || string(found[0].Check)+" "+string(found[0].Severity) != want {
			t.Errorf("%+v: found %v, want %s", pong, found, want)
		}
	}
}

// TestObserve_Many reads a hundred BMCs, ten at a time, one of which never answers.
func TestObserve_Many(t *testing.T) {
	var now, most atomic.Int32
	var targets []Target
	for i := range 100 {
		fake := fakebmc.New(fakebmc.Options{User: "u", Password: planted,
			Machines: []fakebmc.Machine{fakebmc.Sample(i)}})
		wait := patience
		if i == 7 {
			wait = haste
			fake.Set(fakebmc.Quirks{Delay: time.Hour})
		}
		first := atomic.Bool{}
		running := fakebmc.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if first.CompareAndSwap(false, true) {
				now.Add(1)
			}
			for n := now.Load(); n > most.Load(); {
				most.Store(n)
			}
			if r.URL.Path == "/redfish/v1/TaskService/Tasks" { // the last one that is read
				defer now.Add(-1)
			}
			fake.ServeHTTP(w, r)
		}), fakebmc.Certificate{})
		targets = append(targets, Target{Host: fmt.Sprintf("h%d", i), Scheme: "redfish",
			Service: redfish.Service{Options: wire.Options{URL: running.URL, Username: "u",
				Password: func() string { return planted }, Timeout: wait,
				Verify: wire.Verify{Mode: wire.Off}}}})
	}
	begin := time.Now()
	facts := Observe(t.Context(), targets, Options{})
	took := time.Since(begin)
	for i, f := range facts {
		if silent := i == 7; f.Target.Host != targets[i].Host || silent == (f.Redfish.System != nil) {
			t.Errorf("%s: %+v", f.Target.Host, f.Redfish)
		}
	}
	if most.Load() > atOnce+1 || took > time.Minute { // the silent one's place is free again
		t.Errorf("%d at a time, in %s", most.Load(), took)
	}
	t.Logf("100 BMCs in %s, at most %d at a time", took, most.Load())
}

// TestGroups holds that hosts of one BMC are not read at the same time.
func TestGroups(t *testing.T) {
	var targets []Target
	for _, url := range []string{"https://a", "https://b", "https://A", "https://c", "https://b"} {
		targets = append(targets, Target{Scheme: "redfish", Service: redfish.Service{Options: wire.Options{URL: url}}})
	}
	if got := groups(targets); !slices.EqualFunc(got, [][]int{{0, 2}, {1, 4}, {3}}, slices.Equal) {
		t.Errorf("groups %v", got)
	}
}

func TestBootPath(t *testing.T) {
	for scheme, want := range map[string]string{
		"redfish-uefihttp": "HTTP, UEFISecureBoot", "redfish-virtualmedia": "virtual media, UEFISecureBoot",
		"ipmi": "PXE, UEFISecureBoot",
	} {
		target := Target{Scheme: scheme, Want: Want{BootMode: "UEFISecureBoot"}}
		if got := target.BootPath(); got != want {
			t.Errorf("%s boots by %s, want %s", scheme, got, want)
		}
	}
}

// TestAddress holds that credentials in an address are printed nowhere.
func TestAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://bmc":           "https://bmc",
		"https://u:p@w@bmc:444": "https://bmc:444",
		"https://u:p@%zz":       "https://%zz",
		"u:p@bmc":               "bmc",
	} {
		target := Target{Scheme: "redfish", Service: redfish.Service{Options: wire.Options{URL: address}}}
		ping := Target{IPMI: address}
		if target.Address() != want || ping.Address() != want {
			t.Errorf("%s is %s and %s, want %s", address, target.Address(), ping.Address(), want)
		}
	}
}
