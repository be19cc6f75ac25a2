package kubeapi

import (
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/chronicle/install"
	verdict "github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// saved is what kubectl prints of objects, by the commands that the documents have.
func saved(t *testing.T, c *Cluster, s *Server, objects ...string) []byte {
	t.Helper()
	kubectl, err := cache.Kubectl(t.Context())
	if err != nil {
		need.Missing(t, "needs kubectl: "+err.Error())
	}
	id, err := c.Sign(Admin())
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, c.Kubeconfig(s.URL(), id), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), kubectl, append([]string{"get", "-A", "-o", "json"}, objects...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir())
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl: %v", err)
	}
	return text
}

// TestWorkers has a real API hold hosts in each state, and then FAKE operators provision others, from
// the handover on: status reports at each time what an operator has to know, and the report is drawn
// from what a real kubectl has saved of that API.
func TestWorkers(t *testing.T) {
	c, s := Local(t, Server{})
	kinds(t, s)
	apply(t, s, aNamespace(object.MachineNamespace), aNamespace(ours))
	o := &operators{t: t, api: s.Admin(), r: rand.New(rand.NewPCG(1, 1))}
	client := clientOf(t, c, s)
	host := fakehost.New(t, fakehost.Plan(t, vrrp.ProfileLan), nil)
	host.Now, host.Workers = time.Now, client.Workers
	// seen is what status prints, with each of the lines.
	seen := func(lines ...string) status.Report {
		t.Helper()
		r := status.Inspect(t.Context(), host)
		text := strings.ReplaceAll(r.Text(layout.Of(1000)), "\n    ", " ") // whatever the width
		for _, line := range lines {
			if !regexp.MustCompile("(?m)^" + line + "$").MatchString(text) {
				t.Errorf("no line %q in\n%s", line, text)
			}
		}
		return r
	}
	ago := func(minutes int) string {
		return time.Now().Add(-time.Duration(minutes) * time.Minute).UTC().Format(time.RFC3339)
	}
	put := func(name string, status, more fields) {
		spec := fields{"online": true}
		maps.Copy(spec, more)
		o.do(http.MethodPost, hostsOf, fields{"apiVersion": object.Metal3, "kind": "BareMetalHost", "metadata": fields{"name": name}, "spec": spec})
		o.do(http.MethodPatch, hostsOf+"/"+name+"/status", fields{"status": status})
	}
	history := func(what string, start int) fields {
		return fields{"operationHistory": fields{what: fields{"start": ago(start), "end": nil}}}
	}
	with := func(status fields, state string, more fields) fields {
		maps.Copy(status, fields{"poweredOn": true, "operationalStatus": "OK", "errorMessage": "", "provisioning": fields{"state": state, "ID": ""}})
		maps.Copy(status, more)
		return status
	}

	// Hosts that wait for the handover, as the product's own objects have them.
	p, hosts := workers(t, 3)
	objects, err := metal3.Objects(p, metal3.Given{Hosts: hosts})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range objects {
		if h, ok := one.(object.BareMetalHost); ok {
			o.do(http.MethodPost, hostsOf, fields{"apiVersion": h.APIVersion, "kind": h.Kind, "metadata": fields{"name": h.Metadata.Name, "annotations": h.Metadata.Annotations},
				"spec": fields{"online": h.Spec.Online, "externallyProvisioned": h.Spec.ExternallyProvisioned, "bmc": fields{"address": h.Spec.BMC.Address, "credentialsName": h.Spec.BMC.CredentialsName}}})
		}
	}
	notices := "/api/v1/namespaces/" + ours + "/configmaps"
	o.do(http.MethodPost, notices, fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": notice.Bootstrap}, "data": notice.EncodeBootstrap([]netip.Addr{netip.MustParseAddr("192.0.2.10")}, 1)})
	seen("workers: the bootstrap machine still provisions, 0 of 3 hosts are released", "workers: 0 of 3 hosts have joined; 1 more belong to another program, .*", "w0: waiting for the handover")
	// The real API notes when the machine's last beat was: it was removed without an end.
	host.Now = func() time.Time { return time.Now().Add(10 * time.Minute) }
	seen("workers: the bootstrap machine has ended, and the cluster's own Ironic is not ready .*")
	host.Now = time.Now
	o.do(http.MethodPatch, notices+"/"+notice.Bootstrap, fields{"data": notice.EncodeBootstrap(nil, 2)})
	seen("workers: the bootstrap machine has ended, and the cluster's own Ironic is not ready \\(the Deployment metal3\\), 0 of 3 hosts are released")
	labels := fields{"app": "metal3"}
	o.do(http.MethodPost, "/apis/apps/v1/namespaces/"+object.MachineNamespace+"/deployments", fields{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": fields{"name": "metal3"},
		"spec": fields{"selector": fields{"matchLabels": labels}, "template": fields{"metadata": fields{"labels": labels}, "spec": fields{"containers": []fields{{"name": "i", "image": "i"}}}}}})
	o.do(http.MethodPatch, "/apis/apps/v1/namespaces/"+object.MachineNamespace+"/deployments/metal3/status", fields{"status": fields{"replicas": 1, "readyReplicas": 1, "availableReplicas": 1,
		"conditions": []fields{{"type": "Available", "status": "True", "lastTransitionTime": ago(0)}}}})
	r := seen("workers: 0 of 3 hosts are released, 3 wait for 'onprem-infra hosts release --apply'")
	if r.Verdict.Level != verdict.Degraded || !strings.Contains(strings.Join(r.Verdict.Why, "\n"), "3 hosts wait for the handover, and nothing is in their way") {
		t.Errorf("%+v", r.Verdict)
	}

	// They are released, and two of them become nodes.
	o.do(http.MethodPost, setsOf, fields{"apiVersion": object.Machine, "kind": "MachineSet", "metadata": fields{"name": "prod-worker"}, "spec": fields{"replicas": 2}})
	end := o.start()
	if err := client.Release(t.Context(), func(_ scale.Round, failed error) {
		if failed != nil {
			t.Error(failed)
		}
	}); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if r = status.Inspect(t.Context(), host); r.Workers != nil && r.Workers.Joined == 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", r.Workers)
		}
	}
	end()
	seen("workers: the handover is done, 3 of 3 hosts are released", "workers: 2 of 3 hosts have joined; 1 more .*", "w[012]: available, and belongs to no Machine")

	// Hosts as metal3's states leave them.
	put("x-inspecting", with(history("inspect", 4), "inspecting", nil), nil)
	put("x-failed", with(history("inspect", 34), "inspecting", fields{"errorType": "inspection error", "errorMessage": "at https://admin:p4ss@192.0.2.9: timeout", "errorCount": 1, "operationalStatus": "error", "lastUpdated": ago(2)}), fields{"bmc": fields{"address": "redfish://admin:p4ss@192.0.2.9/1", "credentialsName": "x"}})
	put("x-again", with(history("inspect", 34), "inspecting", fields{"errorCount": 1, "lastUpdated": ago(2)}), nil)
	put("x-provisioning", with(history("provision", 12), "provisioning", nil), nil)
	put("x-lost", with(fields{"operationHistory": fields{"provision": fields{"start": ago(60), "end": ago(40)}}}, "provisioned", nil), nil)
	put("x-external", with(fields{}, "externally provisioned", nil), fields{"externallyProvisioned": true})
	put("x-leaves", with(history("deprovision", 5), "deprovisioning", nil), nil)
	for _, name := range []string{"x-external", "x-leaves", "x-inspecting"} { // a Node alone makes none of them one that joined
		o.do(http.MethodPost, "/api/v1/nodes", fields{"apiVersion": "v1", "kind": "Node", "metadata": fields{"name": name}, "status": fields{"conditions": []fields{{"type": "Ready", "status": "True", "lastTransitionTime": ago(1)}}}})
	}
	r = seen("workers: 2 of 9 hosts have joined; 2 more .*", "x-inspecting: being inspected, 4 m( \\d+ s)? of 30 m; power on", "x-failed: being inspected, 34 m( \\d+ s)?; power on; attempt 1 failed 2 m( \\d+ s)? ago: at https://\\(secret-1\\)@192.0.2.9: timeout",
		"x-failed: to do: see its console: .*", "x-again: being inspected, 2 m( \\d+ s)? of 30 m; power on; attempt 2", "x-provisioning: being provisioned, 12 m( \\d+ s)? of 1 h 20 m; power on", "x-lost: starting from its disk, 40 m( \\d+ s)? of 15 m; power on",
		"x-lost: cause: its disk is written, and it has not joined for 40 m.*", "x-leaves: being wiped, 5 m( \\d+ s)? of 30 m; power on")
	why := strings.Join(r.Verdict.Why, "\n")
	if strings.Count(why, "host ") != 2 || !strings.Contains(why, "host x-failed is not installed: inspection error: ") || !strings.Contains(why, "host x-lost is not installed: ") || strings.Contains(why, "p4ss") {
		t.Error(why)
	}
	if len(r.Workers.Hosts) != 7 || strings.Contains(strings.Join(r.Unseen, "\n"), "hosts that the cluster") {
		t.Errorf("%+v, unseen %q", r.Workers.Hosts, r.Unseen)
	}

	// The bootstrap machine, which has left, has published how far it was; and the operator is paused again.
	handed := notice.Progress{Phase: "release", Machine: "boot", Waits: "a thing", Since: time.Now(), At: time.Now()}
	o.do(http.MethodPost, notices, fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": notice.Handover}, "data": notice.EncodeHandover(handed)})
	seen("workers: the bootstrap machine boot is in the phase release(, \\d+ s)?, waits for a thing")
	host.Now = func() time.Time { return time.Now().Add(10 * time.Minute) }
	o.do(http.MethodPost, "/apis/metal3.io/v1alpha1/provisionings", fields{"apiVersion": object.Metal3, "kind": "Provisioning", "metadata": fields{"name": object.Operator, "annotations": fields{object.OperatorPaused: object.UntilHandover}}})
	r = seen("workers: the bootstrap machine has ended, and OpenShift's operator of metal3 is paused, .*", "workers: the bootstrap machine boot is in the phase release, 10 m( \\d+ s)?; it has not reported for 10 m( \\d+ s)?, and may be gone")
	if why := strings.Join(r.Verdict.Why, "\n"); !strings.Contains(why, "OpenShift's operator of metal3 is paused, and no bootstrap machine provisions: check that it is off, and run 'kubectl annotate provisionings.metal3.io provisioning-configuration provisioning.metal3.io/paused-'") {
		t.Error(why)
	}
	host.Now = time.Now

	// A node's own credentials may not read it, and cost nothing else.
	host.Workers = (&machines.Client{API: kube.NewAPI(c.kubelet(t, s, "w0"), slog.New(slog.DiscardHandler)), ControlPlane: label, Namespace: ours}).Workers
	if r := seen("not seen: hosts that the cluster provisions: .*forbidden.*"); r.Workers != nil {
		t.Errorf("%+v", r.Workers)
	}

	var report install.Record
	for _, text := range [][]byte{saved(t, c, s, "bmh,machines.machine.openshift.io,nodes,deployments"), saved(t, c, s, "configmaps", "--field-selector", "metadata.name="+notice.Handover)} {
		if unread, isOurs := report.TakeObjects(text); !isOurs || len(unread) > 0 {
			t.Fatalf("%v, %q", isOurs, unread)
		}
	}
	page := install.Page(report)
	text := strings.Join(strings.Fields(install.Text(page, layout.Of(1000))), " ")
	for _, want := range []string{"2 of 9 hosts that the cluster provisions joined", "metal3: the cluster's own Ironic is ready", "metal3: 3 hosts begin, batch ", "x-failed has not joined: inspection error: at https://(secret-1)@192.0.2.9: timeout: see its console",
		": its Node is Ready: registration ", "bootstrap machine: the phase release begins: as boot published it", "x-leaves metal3: its deprovisioning begins", "Hosts of another program than metal3, as those of the control plane: 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "p4ss") {
		t.Error(text)
	}
	joined := 0
	for _, l := range page.Timelines[0].Lanes {
		joined += strings.Count(fmt.Sprint(l), "its Node is Ready")
	}
	if joined != 2 || len(page.Timelines[0].Lanes) != 1+9 {
		t.Errorf("%d joined in %d lanes", joined, len(page.Timelines[0].Lanes))
	}
}
