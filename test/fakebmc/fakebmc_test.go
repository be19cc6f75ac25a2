package fakebmc

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"
)

// call sends a request and returns the status and the answer.
func call(t *testing.T, r Running, method, p string, in object) (int, object) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, r.URL+p, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("admin", "password")
	resp, err := r.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out := object{}
	_ = json.NewDecoder(resp.Body).Decode(&out) // an answer may be empty
	return resp.StatusCode, out
}

// TestQuirks_Changes has the faults that show when something is changed; those of reading are in
// the tests of what reads BMCs.
func TestQuirks_Changes(t *testing.T) {
	machine := Sample(1)
	machine.On, machine.Media = true, "http://192.0.2.1/old.iso"
	bmc := New(Options{User: "admin", Password: "password", Machines: []Machine{machine}})
	r := Start(t, bmc, Certificate{})
	const system, cd = "/redfish/v1/Systems/1", "/redfish/v1/Managers/1/VirtualMedia/Cd"
	const reset = system + "/Actions/ComputerSystem.Reset"
	legacy := object{"Boot": object{"BootSourceOverrideMode": "Legacy"}}
	for i, step := range []struct {
		quirks  Quirks
		method  string
		path    string
		in      object
		status  int
		key     string
		present any
	}{
		{Quirks{}, "GET", system, nil, 200, "PowerState", "On"},
		{Quirks{ModeRefusedOn: true}, "PATCH", system, legacy, 500, "", nil},
		{Quirks{}, "PATCH", system, object{"Boot": object{"BootSourceOverrideTarget": "Tape"}}, 400, "", nil},
		{Quirks{}, "PATCH", system, legacy, 204, "", nil},
		{Quirks{MediaStuck: true}, "POST", cd + ejectAction, nil, 204, "", nil},
		{Quirks{}, "GET", cd, nil, 200, "Inserted", true},
		{Quirks{}, "POST", cd + insertAction, object{"Image": "http://192.0.2.1/new.iso"}, 400, "", nil},
		{Quirks{}, "POST", cd + ejectAction, nil, 204, "", nil},
		{Quirks{}, "GET", cd, nil, 200, "Inserted", false},
		{Quirks{}, "POST", reset, object{"ResetType": "Nudge"}, 400, "", nil},
		{Quirks{}, "POST", reset, object{"ResetType": "ForceOff"}, 204, "", nil},
		{Quirks{ConflictAfterOff: time.Hour}, "POST", reset, object{"ResetType": "On"}, 409, "", nil},
		{Quirks{}, "GET", system, nil, 200, "PowerState", "Off"},
		{Quirks{}, "POST", reset, object{"ResetType": "On"}, 204, "", nil},
		{Quirks{}, "GET", system, nil, 200, "PowerState", "On"},
		{Quirks{}, "DELETE", sessionsPath + "/1", nil, 404, "", nil},
		{Quirks{}, "PUT", system, nil, 405, "", nil},
		{Quirks{}, "GET", system + "/", nil, 200, "PowerState", "On"},
	} {
		bmc.Set(step.quirks)
		status, out := call(t, r, step.method, step.path, step.in)
		if status != step.status || step.key != "" && out[step.key] != step.present {
			t.Errorf("step %d: %s %s: %d %v, want %d", i, step.method, step.path, status, out, step.status)
		}
	}
}

// TestShutdown has a machine that ends some time after its BMC has asked it to, and one that resets
// itself: only its first start is from the network.
func TestShutdown(t *testing.T) {
	on := true
	var changes []Change
	bmc := New(Options{User: "admin", Password: "password", Machines: []Machine{Sample(1)},
		Power: func(_ Machine, c Change) error { changes = append(changes, c); return nil },
		IsOn:  func(string) (bool, error) { return on, nil }})
	r := Start(t, bmc, Certificate{})
	const system, reset = "/redfish/v1/Systems/1", "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset"
	if status, _ := call(t, r, "POST", reset, object{"ResetType": "GracefulShutdown"}); status != 204 || len(changes) != 1 || !changes[0].Graceful || changes[0].On {
		t.Errorf("status %d, changes %+v", status, changes)
	}
	for _, state := range []string{"On", "Off"} {
		if _, out := call(t, r, "GET", system, nil); out["PowerState"] != state {
			t.Errorf("the machine is %v, want %s", out["PowerState"], state)
		}
		on = false
	}
	boot := object{"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}
	if status, _ := call(t, r, "PATCH", system, object{"Boot": boot}); status != 204 {
		t.Fatal(status)
	}
	for _, want := range []string{"Pxe", "Hdd"} {
		if got := bmc.Restart("1"); got.Boot != want || !got.On || got.Mode != "UEFI" {
			t.Errorf("it starts from %+v, want %s", got, want)
		}
	}
	if got := bmc.Restart("2"); got.Boot != "Hdd" {
		t.Errorf("a machine that the BMC does not know starts from %+v", got)
	}
}

// TestSessions holds that a session outlives a change of the password until the BMC ends it, and
// that the old password opens no other one.
func TestSessions(t *testing.T) {
	bmc := New(Options{User: "admin", Password: "password", Machines: []Machine{Sample(1)}})
	r := Start(t, bmc, Certificate{})
	login := object{"UserName": "admin", "Password": "password"}
	if status, _ := call(t, r, "POST", sessionsPath, login); status != http.StatusCreated {
		t.Fatalf("login: %d", status)
	}
	bmc.mu.Lock()
	open := len(bmc.sessions)
	bmc.mu.Unlock()
	bmc.Set(Quirks{PasswordAfter: 1})
	for range 2 { // requests count whether they are granted or not
		call(t, r, "GET", "/redfish/v1/Systems/1", nil)
	}
	if status, _ := call(t, r, "POST", sessionsPath, login); status != http.StatusUnauthorized {
		t.Errorf("login with the old password: %d, want 401", status)
	}
	bmc.EndSessions()
	if open != 1 || len(bmc.sessions) != 0 {
		t.Errorf("%d sessions before, and %d after their end", open, len(bmc.sessions))
	}
}

// TestCertificate holds for which names and addresses a certificate is valid.
func TestCertificate(t *testing.T) {
	for name, valid := range map[string][]string{"": {"127.0.0.1", "::1"}, "bmc.example.com": {"bmc.example.com"}, "192.0.2.100": {"192.0.2.100"}} {
		made, err := Certificate{Name: name}.Make()
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(made.TLS.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{"127.0.0.1", "::1", "bmc.example.com", "192.0.2.100"} {
			_, err := leaf.Verify(x509.VerifyOptions{Roots: made.Pool, DNSName: at})
			if (err == nil) != slices.Contains(valid, at) {
				t.Errorf("a certificate for %q at %s: %v", name, at, err)
			}
		}
	}
}
