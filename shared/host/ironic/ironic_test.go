package ironic

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// server is a FAKE: canned answers of Ironic's API, and the requests that it received.
type server struct {
	*httptest.Server
	version  string
	answers  map[string]string // by method and path
	status   int               // of changes; 0 for success
	requests []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	if user != "admin" || password != "pass" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("X-OpenStack-Ironic-API-Maximum-Version", s.version)
	w.Header().Set("Content-Type", "application/json")
	body, _ := io.ReadAll(r.Body)
	key := r.Method + " " + r.URL.Path
	if key == "GET /v1/" {
		fmt.Fprint(w, `{"version":{"version":"1.96","min_version":"1.1"}}`)
		return
	}
	s.requests = append(s.requests, r.Header.Get("X-OpenStack-Ironic-API-Version")+" "+key+" "+string(body))
	if s.status != 0 && r.Method != "GET" {
		w.WriteHeader(s.status)
		fmt.Fprint(w, `{"error_message":"{\"faultcode\":\"Client\",\"faultstring\":\"Node u is locked by host prov\"}"}`)
		return
	}
	if answer, ok := s.answers[key]; ok {
		fmt.Fprint(w, answer)
		return
	}
	switch {
	case strings.HasSuffix(key, "boot_device"):
		w.WriteHeader(http.StatusNoContent)
	case r.Method == "PUT", r.Method == "DELETE":
		w.WriteHeader(http.StatusAccepted)
	case r.Method == "POST":
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"uuid":"u"}`)
	default:
		fmt.Fprint(w, `{"uuid":"u"}`)
	}
}

func newServer(t *testing.T) (*server, *API) {
	t.Helper()
	s := &server{version: "1.96", answers: map[string]string{}}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(s.Close)
	dir := t.TempDir()
	o := Options{URL: s.URL, Certificate: filepath.Join(dir, "crt"), Account: filepath.Join(dir, "account.json")}
	write := func(path string, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(o.Certificate, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	write(o.Account, []byte(`{"username":"admin","password":"pass"}`))
	return s, New(o)
}

const detail = `{"nodes":[{"uuid":"u2","name":"master-1","provision_state":"wait call-back","provision_updated_at":"2026-11-20T10:00:01+00:00","last_error":null,
 "maintenance":true,"maintenance_reason":"x","fault":"power failure","reservation":"prov","power_state":"power on","inspection_finished_at":null,
 "driver_info":{"redfish_password":"******","redfish_username":"PLANTED"},"driver_internal_info":{"deploy_steps":[{"step":"deploy"},{"step":"write_image"}],"deploy_step_index":1,"agent_last_heartbeat":"2026-11-20T10:00:02.000123"},
 "deploy_step":{"step":"write_image","interface":"deploy"},"properties":{"root_device":{"serial":"S1"},"capabilities":"boot_mode:uefi"},"instance_info":{"image_source":"http://os"}},
 {"uuid":"u1","name":"master-0","provision_state":"enroll","provision_updated_at":null,"deploy_step":{},"driver_internal_info":{},"properties":{},"instance_info":{},"reservation":null,"power_state":null,"inspection_finished_at":"2026-11-20T09:00:00+00:00"}]}`

func TestNodes(t *testing.T) {
	s, api := newServer(t)
	s.answers["GET /v1/nodes/detail"] = detail
	s.answers["GET /v1/ports/detail"] = `{"ports":[{"uuid":"p","address":"52:54:00:00:00:01","node_uuid":"u2"},{"address":"none","node_uuid":"u2"}]}`
	got, err := api.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := func(s int, ns int) time.Time { return time.Date(2026, 11, 20, 10, 0, s, ns, time.UTC) }
	want := []node.Node{
		{UUID: "u1", Name: "master-0", State: node.Enroll, Step: node.Step{Index: -1}, Inspected: at(0, 0).Add(-time.Hour)},
		{UUID: "u2", Name: "master-1", State: node.DeployWait, Changed: at(1, 0), Maintenance: node.Maintenance{On: true, Fault: node.FaultPower, Reason: "x"},
			Locked: true, Power: node.On, Called: at(2, 123000), Disk: `{"serial":"S1"}`, Image: "http://os", MACs: []mac.MAC{{0x52, 0x54, 0, 0, 0, 1}},
			Step: node.Step{Index: 1, Name: "write_image", Names: []string{"deploy", "write_image"}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if strings.Contains(fmt.Sprintf("%+v", got), "PLANTED") {
		t.Error("an account is in a value that may be logged")
	}
	if len(s.requests) != 2 || !strings.HasPrefix(s.requests[0], "1.96 ") {
		t.Errorf("requests %q", s.requests)
	}
}

func TestDisks(t *testing.T) {
	s, api := newServer(t)
	s.answers["GET /v1/nodes/u/inventory"] = `{"inventory":{"disks":[{"name":"/dev/sda","by_path":"/dev/disk/by-path/p","serial":"S","size":100,"rotational":false,"wwn":"0x5"}]},"plugin_data":{}}`
	got, err := api.Disks(t.Context(), "u")
	if err != nil || len(got) != 1 || got[0].Device != "/dev/sda" || got[0].ByPath != "/dev/disk/by-path/p" || got[0].Serial != "S" || got[0].Bytes != 100 || *got[0].Rotational || got[0].WWN != "0x5" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestNegotiate(t *testing.T) {
	for version, want := range map[string]string{"1.82": "1.82 ", "1.115": "1.96 ", "1.80": "", "2": "", "": "1.96 "} {
		s, api := newServer(t)
		s.version = version
		s.answers["GET /v1/nodes/detail"], s.answers["GET /v1/ports/detail"] = `{"nodes":[]}`, `{"ports":[]}`
		_, err := api.Nodes(t.Context())
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "1.81 is needed") {
				t.Errorf("%q: %v", version, err)
			}
			continue
		}
		if err != nil || !strings.HasPrefix(s.requests[0], want) {
			t.Errorf("%q: %v, %q", version, err, s.requests)
		}
	}
}

func TestDo(t *testing.T) {
	image := node.Image{URL: "http://os", SHA256: "ab", Format: "raw"}
	spec := node.Spec{Name: "m", Driver: "redfish", Interfaces: map[string]string{"boot_interface": "ipxe"}, Info: map[string]any{"redfish_password": secret.New("bmcpass"), "redfish_verify_ca": false},
		Properties: map[string]string{"capabilities": "boot_mode:uefi"}}
	tests := []struct {
		request node.Request
		want    []string // parts of the requests, in this order
	}{
		{node.Request{Verb: node.Create, Spec: spec, MAC: mac.MAC{2}}, []string{`POST /v1/nodes {"automated_clean":false,"boot_interface":"ipxe","driver":"redfish"`, `"redfish_password":"bmcpass"`, `POST /v1/ports {"address":"02:00:00:00:00:00","node_uuid":"u","pxe_enabled":true}`}},
		{node.Request{Verb: node.Update, Spec: spec}, []string{`PATCH /v1/nodes/u [{"op":"add","path":"/driver_info/redfish_password","value":"bmcpass"}`, `"value":false`, `/properties/capabilities`}},
		{node.Request{Verb: node.Port, MAC: mac.MAC{2}}, []string{`POST /v1/ports`}},
		{node.Request{Verb: node.Manage}, []string{`PUT /v1/nodes/u/states/provision {"target":"manage"}`}},
		{node.Request{Verb: node.Inspect}, []string{`{"target":"inspect"}`}},
		{node.Request{Verb: node.Provide}, []string{`{"target":"provide"}`}},
		{node.Request{Verb: node.Undeploy}, []string{`{"target":"deleted"}`}},
		{node.Request{Verb: node.Pin, Disk: node.Pinned{Serial: "S"}}, []string{`"path":"/properties/root_device","value":{"serial":"S"}`}},
		{node.Request{Verb: node.Deploy, Image: image, Drive: node.Drive{Name: "m", UserData: secret.New("IGN")}}, []string{`PATCH`, `image_os_hash_algo","value":"sha256"`, `PUT`, `"user_data":"IGN"`, `"target":"active"`}},
		{node.Request{Verb: node.Adopt, Image: image}, []string{`PATCH`, `image_source`, `"target":"adopt"`}},
		{node.Request{Verb: node.Clear}, []string{`DELETE /v1/nodes/u/maintenance`}},
		{node.Request{Verb: node.Hold}, []string{`PUT /v1/nodes/u/maintenance {"reason":"onprem-infra: `}},
		{node.Request{Verb: node.BootNet, Device: "pxe"}, []string{`management/boot_device {"boot_device":"pxe","persistent":false}`, `states/power {"target":"rebooting"}`}},
		{node.Request{Verb: node.BootDisk}, []string{`"boot_device":"disk","persistent":true`, `"rebooting"`}},
		{node.Request{Verb: node.BootDisk, Gently: true}, []string{`"boot_device":"disk","persistent":true`, `"power on"`}},
	}
	for _, tt := range tests {
		t.Run(string(tt.request.Verb), func(t *testing.T) {
			s, api := newServer(t)
			tt.request.UUID = "u"
			if err := api.Do(t.Context(), tt.request); err != nil {
				t.Fatal(err)
			}
			rest := strings.Join(s.requests, "\n")
			for _, want := range tt.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("no %s in\n%s", want, strings.Join(s.requests, "\n"))
				}
				rest = after
			}
		})
	}
	_, api := newServer(t)
	if err := api.Do(t.Context(), node.Request{Verb: "levitate"}); err == nil {
		t.Error("a verb that is none was asked for")
	}
}

func TestErrors(t *testing.T) {
	for status, refused := range map[int]bool{400: true, 404: true, 406: true, 409: false, 401: false, 408: false, 429: false, 500: false, 503: false} {
		s, api := newServer(t)
		s.status = status
		err := api.Do(t.Context(), node.Request{Verb: node.Manage, UUID: "u"})
		var e *Error
		if !errors.As(err, &e) || e.Status != status || e.Refused() != refused || e.Text != "Node u is locked by host prov" {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// Another program may have the port, with any certificate.
func TestPin(t *testing.T) {
	s, api := newServer(t)
	other := httptest.NewUnstartedServer(s)
	other.TLS = &tls.Config{}
	other.StartTLS()
	defer other.Close()
	text, _ := os.ReadFile(api.options.Certificate)
	block, _ := pem.Decode(text)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	block.Bytes[len(block.Bytes)-1] ^= 1 // of the signature
	if err := os.WriteFile(api.options.Certificate, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Drivers(t.Context()); err == nil || !strings.Contains(err.Error(), "another certificate") {
		t.Errorf("another certificate than %s: %v", cert.Subject, err)
	}
	if len(s.requests) > 0 {
		t.Error("the account was sent to another server")
	}
}

func TestFiles(t *testing.T) {
	for name, change := range map[string]func(*API) error{
		"read the account":     func(a *API) error { return os.Remove(a.options.Account) },
		"no user name":         func(a *API) error { return os.WriteFile(a.options.Account, []byte("{}"), 0o600) },
		"read the certificate": func(a *API) error { return os.Remove(a.options.Certificate) },
		"no certificate in":    func(a *API) error { return os.WriteFile(a.options.Certificate, nil, 0o600) },
	} {
		_, api := newServer(t)
		if err := change(api); err != nil {
			t.Fatal(err)
		}
		if _, err := api.Drivers(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBody(t *testing.T) {
	b := &body{ReadCloser: io.NopCloser(strings.NewReader("12345")), left: 3}
	if text, err := io.ReadAll(b); err == nil || string(text) != "123" {
		t.Errorf("%q, %v", text, err)
	}
}

// FuzzNodes reads answers that no Ironic gives.
func FuzzNodes(f *testing.F) {
	f.Add([]byte(detail))
	f.Add([]byte(`{"inventory":{"disks":[{"size":1}]}}`))
	f.Add([]byte(`{"error_message":"{}"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var all struct{ Nodes []seen }
		if json.Unmarshal(text, &all) == nil {
			for _, n := range all.Nodes {
				_ = n.node(nil)
			}
		}
		var i inventory
		if json.Unmarshal(text, &i) == nil {
			if disks, err := i.disks(); err == nil && len(disks) > most {
				t.Error("too many disks")
			}
		}
		if len(reason(text)) > 2<<10 {
			t.Error("a long reason")
		}
	})
}
