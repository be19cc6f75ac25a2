package redfish

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
)

// documents are a service that is unlike the FAKE BMC: older, and careless.
var documents = map[string]string{
	"/redfish/v1/": `{"Oem":{"Hpe":{}},"AccountService":{"@odata.id":"/accounts"}}`,
	"/redfish/v1/Systems": `{"Members":[{"@odata.id":"/s/"},{"@odata.id":7},"x",
		{"@odata.id":"//other/s"}]}`,
	"/s": `{"VirtualMedia":{"@odata.id":"/media"},"EthernetInterfaces":{"@odata.id":"/ports"},
		"Storage":{"@odata.id":"/none"},"SimpleStorage":{"@odata.id":"/simple"},
		"Links":{"ManagedBy":[{"@odata.id":"/m"}]}}`,
	"/m":     `{"DateTime":"2026-01-02T03:04:05+00:00"}`,
	"/media": `{"Members":[{"@odata.id":"/media/1","MediaTypes":["DVD"],"Inserted":true,"Id":"x"}]}`,
	"/ports": `{"Members@odata.count":3,"Members":[{"@odata.id":"/p"},
		{"@odata.id":"/p"},{"@odata.id":"/q","@odata.type":"#EthernetInterface.v1_4_0.EthernetInterface"}]}`,
	"/p":        `{"MACAddress":"52:54:00:00:00:01"}`,
	"/q":        `{"Id":"2","MACAddress":"52:54:00:00:00:02"}`,
	"/simple":   `{"Members":[{"@odata.id":"/simple/1"}]}`,
	"/simple/1": `{"Devices":[{"Name":"d","CapacityBytes":5e9}]}`,
	"/accounts": `{"Accounts":{"@odata.id":"/a"}}`,
	"/a":        `{"Members":[{"@odata.id":"/a/1"},{"@odata.id":"/a/2"}]}`,
	"/a/1":      `{"UserName":"other","RoleId":"ReadOnly"}`,
	"/a/2":      `{"UserName":"admin","RoleId":"Operator","Locked":true}`,
}

func serve(t *testing.T, documents map[string]string) Service {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		if documents[r.URL.Path] == "" {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, documents[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	now := time.Date(2026, 1, 2, 4, 4, 5, 0, time.UTC)
	return Service{Options: wire.Options{URL: server.URL, Username: "admin",
		Now: func() time.Time { return now }}}
}

func TestRead_OldService(t *testing.T) {
	f := Read(t.Context(), serve(t, documents))
	switch {
	case f.System == nil || f.Login != Accepted || f.Chain != nil:
		t.Fatalf("%+v", f)
	case f.Root.Vendor != "Hpe" || strings.Join(f.Systems, " ") != "/s":
		t.Errorf("vendor %s, systems %v", f.Root.Vendor, f.Systems)
	case !f.Clock.Known || f.Clock.Ahead != -time.Hour:
		t.Errorf("clock %+v", f.Clock)
	case len(f.Manager.Media) != 1 || !f.Manager.Media[0].Inserted || !f.Manager.Media[0].CD():
		t.Errorf("media %+v", f.Manager.Media)
	case len(f.System.Ports) != 2 || f.System.Ports[0].Name != "p" || f.System.Ports[1].Name != "2":
		t.Errorf("ports %+v", f.System.Ports)
	case len(f.System.Disks) != 1 || f.System.Disks[0].Bytes != 5e9 || !f.System.DisksSeen:
		t.Errorf("disks %+v", f.System.Disks)
	case f.Account != Account{Role: "Operator", Locked: true}:
		t.Errorf("account %+v", f.Account)
	}
}

// TestRead_Storage has controllers of which not all can be read.
func TestRead_Storage(t *testing.T) {
	const drives = `{"Drives":[{"@odata.id":"/d/1"},{"@odata.id":"/d/2"}],"Id":"1","@odata.id":"/c/1","Name":"x"}`
	for name, tt := range map[string]struct {
		members, second string
		disks           int
		seen            bool
	}{
		"all":              {`"Members":[` + drives + `]`, `{"CapacityBytes":2}`, 2, true},
		"an empty bay":     {`"Members":[` + drives + `]`, `{"CapacityBytes":null}`, 1, true},
		"a drive fails":    {`"Members":[` + drives + `]`, ``, 1, false},
		"a member is gone": {`"Members@odata.count":2,"Members":[` + drives + `]`, `{"CapacityBytes":2}`, 2, false},
		"a member fails":   {`"Members":[` + drives + `,{"@odata.id":"/c/2"}]`, `{"CapacityBytes":2}`, 2, false},
	} {
		f := Read(t.Context(), serve(t, map[string]string{
			"/redfish/v1/":        `{}`,
			"/redfish/v1/Systems": `{"Members":[{"@odata.id":"/s"}]}`,
			"/s":                  `{"Storage":{"@odata.id":"/c"}}`,
			"/c":                  `{` + tt.members + `}`,
			"/d/1":                `{"CapacityBytes":1}`,
			"/d/2":                tt.second,
		}))
		if s := f.System; s == nil || len(s.Disks) != tt.disks || s.DisksSeen != tt.seen {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
