package objects

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// at is a time of the morning of the saved objects.
func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-11-20T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

// saved is what kubectl prints of one host, its Machine and its Node, and of what else is asked for.
const saved = `{
    "apiVersion": "v1",
    "items": [
        {"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": "w0", "namespace": "openshift-machine-api", "annotations": {"baremetalhost.metal3.io/paused": "until the handover"}},
         "spec": {"bmc": {"address": "redfish://admin:p4ss@192.0.2.9/1", "credentialsName": "w0-bmc-secret"}, "online": true, "consumerRef": {"kind": "Machine", "name": "m0"}},
         "status": {"errorCount": 2, "errorType": "inspection error", "errorMessage": "GET https://admin:p4ss@bmc/1: Authorization: Basic YWRtaW46cDRzcw==\n refused \u001b[2J", "lastUpdated": "2026-11-20T10:20:00Z", "operationalStatus": "error", "poweredOn": true,
                    "provisioning": {"state": "provisioned", "ID": "x"},
                    "operationHistory": {"register": {"start": "2026-11-20T10:00:00Z", "end": "2026-11-20T10:00:30Z"}, "inspect": {"start": "2026-11-20T10:00:30Z", "end": "2026-11-20T10:06:00Z"},
                                         "provision": {"start": "2026-11-20T10:07:00Z", "end": "2026-11-20T10:19:00Z"}, "deprovision": {"start": null, "end": null}}}},
        {"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine", "metadata": {"name": "m0", "annotations": {"metal3.io/BareMetalHost": "openshift-machine-api/w0"}, "ownerReferences": [{"kind": "MachineSet", "name": "s"}]},
         "status": {"errorMessage": "InvalidConfiguration", "nodeRef": {"name": "w0.example.com"}}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "w0.example.com", "creationTimestamp": "2026-11-20T10:24:00Z"}, "status": {"conditions": [{"type": "MemoryPressure", "status": "False", "lastTransitionTime": "2026-11-20T10:24:00Z"},
          {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T10:25:00Z"}]}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "metal3", "namespace": "openshift-machine-api"}, "status": {"readyReplicas": 1, "conditions": [{"type": "Progressing", "status": "True"}, {"type": "Available", "status": "True", "lastTransitionTime": "2026-11-20T09:58:00Z"}]}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "metal3", "namespace": "default"}, "status": {}},
        {"apiVersion": "metal3.io/v1alpha1", "kind": "Provisioning", "metadata": {"name": "provisioning-configuration", "annotations": {"provisioning.metal3.io/paused": "until the handover"}}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "onprem-infra-provisioning-handover"}, "data": {"phase": "unpause", "machine": "boot", "waits": "x", "since": "2026-11-20T09:50:00Z", "at": "2026-11-20T09:51:00Z"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "another"}, "data": {"phase": "ended", "machine": "boot", "since": "2026-11-20T09:50:00Z", "at": "2026-11-20T09:59:00Z"}}
    ],
    "kind": "List",
    "metadata": {"resourceVersion": ""}
}
`

// TestDecode holds what is read of each object, without an account that a message has.
func TestDecode(t *testing.T) {
	w, ours := Decode([]byte(saved))
	want := workers.World{
		Place: object.OpenShiftHosts(),
		Hosts: []workers.Host{{Host: scale.Host{Name: "w0", Exists: true, State: "provisioned", On: true, Online: true, Paused: true, Handover: true, Consumer: "Machine m0",
			Problem: `GET https://(secret-1)@bmc/1: Authorization: Basic (secret-2) refused \x1b[2J`},
			Fault: "inspection error", Operational: "error", Failures: 2, Updated: at("10:20:00"), Register: workers.Operation{Start: at("10:00:00"), End: at("10:00:30")},
			Inspect: workers.Operation{Start: at("10:00:30"), End: at("10:06:00")}, Provision: workers.Operation{Start: at("10:07:00"), End: at("10:19:00")}}},
		Machines: []workers.Machine{{Machine: scale.Machine{Name: "m0", Set: "s", Node: "w0.example.com"}, Host: "w0", Problem: "InvalidConfiguration"}},
		Nodes:    []workers.Node{{Name: "w0.example.com", Created: at("10:24:00"), Ready: true, Since: at("10:25:00")}},
		Ironic:   workers.Ironic{Ready: true, Pods: 1, Since: at("09:58:00")},
		Operator: scale.Operator{Exists: true, Paused: true, Handover: true}, Handed: notice.Progress{Phase: "unpause", Machine: "boot", Waits: "x", Since: at("09:50:00"), At: at("09:51:00")},
	}
	if !ours || !reflect.DeepEqual(w, want) {
		t.Errorf("%v, %+v\nwant %+v", ours, w, want)
	}
	if text := fmt.Sprintf("%+v", w); strings.Contains(text, "p4ss") || strings.Contains(text, "YWRt") {
		t.Error(text)
	}
	if n := w.Node(w.Hosts[0]); n == nil || n.Name != "w0.example.com" {
		t.Errorf("%+v", n)
	}
	// One object alone, several outputs in one file, another order of keys, and an empty list of Go.
	alone := `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"}}`
	more, ours := Decode([]byte(alone + saved + `{"items":null,"kind":"BareMetalHostList","apiVersion":"metal3.io/v1alpha1"}`))
	if !ours || len(more.Nodes) != 2 || len(more.Hosts) != 1 || len(more.Unread) > 0 {
		t.Errorf("%v, %+v", ours, more)
	}
}

// TestDecode_Namespaces holds that hosts of one name are told apart by their namespaces, and that a
// Machine has the right one.
func TestDecode_Namespaces(t *testing.T) {
	const host = `{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"w0","namespace":%q}}`
	w, _ := Decode(fmt.Appendf(nil, `{"items":[`+host+","+host+`,{"apiVersion":"machine.openshift.io/v1beta1","kind":"Machine","metadata":{"name":"m","annotations":{"metal3.io/BareMetalHost":"edge/w0"}}}]}`, "openshift-machine-api", "edge"))
	if len(w.Hosts) != 2 || w.Hosts[0].Name != "w0" || w.Hosts[1].Name != "edge/w0" || w.Machine(w.Hosts[0]) != nil || w.Machine(w.Hosts[1]) == nil {
		t.Errorf("%+v", w)
	}
}

// TestDecode_Journals holds that a text of another kind is left to its reader.
func TestDecode_Journals(t *testing.T) {
	for _, text := range []string{"", " \n", "{", "{}", "[]", "12", `{"time":"2026-01-02T03:04:05Z","kind":"started"}` + "\n{", `{"at":"2026-01-02T03:04:05Z","instance":"a","state":"BACKUP"}`, "==> m <==\n{}", "I1120 09:39:27 x"} {
		if w, ours := Decode([]byte(text)); ours || !reflect.DeepEqual(w, workers.World{}) {
			t.Errorf("%q: %+v", text, w)
		}
	}
}

// TestDecode_Wrong holds that what cannot be read is named, with its place, and costs nothing else.
func TestDecode_Wrong(t *testing.T) {
	const host = `{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"w9"},"status":%s}`
	history := func(pair string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","items":[`+host+`]}`, `{"operationHistory":{"inspect":{`+pair+`}}}`)
	}
	for name, tt := range map[string]struct {
		text  string
		want  string
		hosts int
	}{
		"cut in an object":          {saved[:strings.Index(saved, `"machine.openshift.io`)], "line 9: what follows cannot be read: the file ends within an object: save the objects again", 1},
		"cut behind an object":      {saved[:strings.Index(saved, "        {\"apiVersion\": \"v1\", \"kind\": \"Node")], "line 11: what follows cannot be read: the file ends within an object", 1},
		"cut before its end":        {saved[:strings.Index(saved, `    "kind": "List"`)], "what follows cannot be read: the file ends within an object", 1},
		"cut within a first string": {`{"apiVersion": "v`, "line 1: what follows cannot be read: the file ends within an object", 0},
		"an object begins":          {saved + "{", "line 23: what follows cannot be read: the file ends within an object", 1},
		"a key begins":              {saved + `{"a`, "what follows cannot be read: the file ends within an object", 1},
		"no JSON behind it":         {saved + "error: the server does not answer", "what follows cannot be read: invalid character 'e'", 1},
		"YAML":                      {"apiVersion: v1\nitems: []\n", "it is YAML: save the objects with 'kubectl get -o json'", 0},
		"items that are no list":    {`{"apiVersion":"v1","items":{"a":1}}`, "its items are no list", 0},
		"an item that is no object": {`{"items":[7,` + fmt.Sprintf(host, "{}") + `]}`, "an object: json: cannot unmarshal number", 1},
		"a wrong type":              {fmt.Sprintf(`{"items":[`+host+`]}`, `{"errorCount":"many"}`), `the BareMetalHost "w9": json: cannot unmarshal string`, 0},
		"no name":                   {`{"items":[{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost"}]}`, `the BareMetalHost "": it has no name`, 0},
		"no time":                   {history(`"start":"yesterday"`), `host w9: status.operationHistory.inspect.start: "yesterday" is no time of a cluster`, 1},
		"the year 9999":             {history(`"start":"9999-01-01T00:00:00Z"`), "is no time of a cluster", 1},
		"the year 1":                {history(`"end":"0001-01-01T00:00:00Z"`), "is no time of a cluster", 1},
		"an end before its start":   {history(`"start":"2026-11-20T10:00:00Z","end":"2026-11-20T09:00:00Z"`), "status.operationHistory.inspect ends (2026-11-20T09:00:00Z) before it starts (2026-11-20T10:00:00Z)", 1},
		"other kinds":               {`{"items":[{"apiVersion":"v1","kind":"Pod"},{"apiVersion":"v1","kind":"Pod"},{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine"},` + fmt.Sprintf(host, "{}") + `]}`, `objects of other kinds than BareMetalHost, Machine of OpenShift, Node, Deployment, Provisioning and ConfigMap are left out: 1 of "cluster.x-k8s.io/v1beta1 Machine", 2 of "v1 Pod"`, 1},
		"a journal behind it":       {saved + `{"time":"2026-01-02T03:04:05Z","kind":"started"}`, `left out: 1 of "no object of an API"`, 1},
	} {
		w, ours := Decode([]byte(tt.text))
		if !ours || len(w.Hosts) != tt.hosts || len(w.Unread) != 1 || !strings.Contains(w.Unread[0], tt.want) {
			t.Errorf("%s: %v, %d hosts, %q; want %q", name, ours, len(w.Hosts), w.Unread, tt.want)
		}
		if slices.ContainsFunc(w.Hosts, func(h workers.Host) bool {
			return h.Name == "w9" && (h.Inspect.Start.Year() == 9999 || !h.Inspect.End.IsZero())
		}) {
			t.Errorf("%s: %+v", name, w.Hosts)
		}
	}
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, `,{"apiVersion":"v%d","kind":"Node"},{"apiVersion":"v1","kind":"Node"}`, i+2)
	}
	if w, _ := Decode([]byte(`{"items":[` + many.String()[1:] + `]}`)); len(w.Unread) > mostUnread {
		t.Errorf("%d lines", len(w.Unread))
	}
}

// TestLongJudge has metal3's own types read a host with each field of its status that is read here.
func TestLongJudge(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1: metal3's types are built, a minute")
	}
	judge, err := cache.Metal3Judge(t.Context())
	if err != nil {
		need.Missing(t, err.Error())
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal([]byte(saved), &list); err != nil {
		t.Fatal(err)
	}
	host := strings.NewReplacer("admin:p4ss@", "", `"online": true,`, `"online": true, "bootMACAddress": "52:54:00:00:00:01",`).Replace(string(list.Items[0]))
	path := filepath.Join(t.TempDir(), "host.yaml")
	judged := func(text string) (string, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), judge, path).CombinedOutput()
		return string(out), err
	}
	if out, err := judged(host); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	for _, field := range []string{"errorCount", "errorType", "errorMessage", "lastUpdated", "operationalStatus", "poweredOn", "operationHistory", "register", "inspect", "provision", "deprovision", "start", "end", "state", "consumerRef", "online"} {
		wrong := strings.Replace(host, `"`+field+`":`, `"`+field+`s":`, 1)
		if out, err := judged(wrong); err == nil || wrong == host {
			t.Errorf("the judge takes another name than %s: %s", field, out)
		}
	}
}

// FuzzDecode holds that no file panics, or moves a cursor, whatever is made of it, and that times are
// those of a cluster.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(saved), int64(0))
	f.Add([]byte(saved[:len(saved)/2]), int64(1e10))
	f.Add([]byte(`{"items":[{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"\u001b[2J"},"status":{"provisioning":{"state":"\u001b"},"errorMessage":"\r","errorType":"\u0007","errorCount":-9223372036854775808,"operationHistory":{"inspect":{"start":"2099-11-20T10:00:00Z"}}}}]}`), int64(-1))
	f.Fuzz(func(t *testing.T, text []byte, seconds int64) {
		w, ours := Decode(text)
		if !ours {
			return
		}
		now := time.Unix(seconds, 0)
		r := workers.Of(w, now)
		all := r.Text(now) + strings.Join(append(r.Faults(), w.Unread...), "\n")
		if strings.ContainsAny(all, "\x1b\r\x07") {
			t.Errorf("%q", all)
		}
		for _, h := range w.Hosts {
			for _, o := range []workers.Operation{h.Register, h.Inspect, h.Provision, h.Deprovision} {
				if !o.End.IsZero() && o.End.Before(o.Start) || o.Start.Year() > lastYear {
					t.Errorf("%+v", o)
				}
			}
		}
	})
}

// TestDecode_AnyKubernetes holds that a file shows by its hosts or its Ironic where the cluster has
// them, and that another Deployment of the name is none.
func TestDecode_AnyKubernetes(t *testing.T) {
	const in = `"namespace": "onprem-infra-metal3"`
	host := `{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "metadata": {"name": "w0", ` + in + `}, "spec": {"image": {"url": "u"}}, "status": {"provisioning": {"state": "available"}}}`
	ironic := `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "metal3-ironic", ` + in + `}, "status": {"readyReplicas": 1}}`
	other := `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "metal3", ` + in + `}, "status": {"readyReplicas": 1}}`
	for text, want := range map[string]workers.World{
		host:   {Place: object.AnyHosts(), Hosts: []workers.Host{{Host: scale.Host{Name: "w0", Exists: true, State: "available"}, Image: true}}},
		ironic: {Place: object.AnyHosts(), Ironic: workers.Ironic{Ready: true, Pods: 1}},
		other:  {},
	} {
		if w, ours := Decode([]byte(text)); !ours || !reflect.DeepEqual(w, want) {
			t.Errorf("%s: %+v, want %+v", text, w, want)
		}
	}
}
