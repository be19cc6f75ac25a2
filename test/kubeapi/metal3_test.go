package kubeapi

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/workload"
	"github.com/onprem-infra/onprem-infra/cluster/workload/reads"
	"github.com/onprem-infra/onprem-infra/shared/host/identity"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/cache"
)

// ironicCluster is a cluster of any Kubernetes in which Ironic and metal3's operator run, with the
// worker w0 and more.
func ironicCluster(t *testing.T, more ...string) (plan.Plan, []spec.Host) {
	t.Helper()
	others := ""
	for i, name := range more {
		others += fmt.Sprintf(", {name: %s, role: worker, bootMAC: '52:54:00:00:01:%02x', bmc: {address: 'ipmi://198.51.100.%d', credentials: {file: a}}}", name, i, 10+i)
	}
	c, findings := spec.Parse("cluster.yaml", []byte(`{apiVersion: onprem-infra.io/v1alpha1, kind: Cluster, metadata: {name: prod}, spec: {
  baseDomain: example.com, platform: baremetal, distribution: kubernetes, controlPlaneReplicas: 1,
  machineNetworks: [192.0.2.0/24], apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6], provisioning: {network: managed, volumeClaim: ironic},
  images: {ironicImage: 'r/ironic:1', baremetalRuntimeCfgImage: 'r/o:1', ironicAgentImage: 'r/agent:1', baremetalOperatorImage: 'r/bmo:1', osImage: 'http://192.0.2.9/os.raw@sha256:`+
		strings.Repeat("0", 64)+`'},
  hosts: [{name: m0, role: master, bootMAC: '52:54:00:00:00:01', bmc: {address: 'ipmi://198.51.100.1', credentials: {file: a}}},
    {name: w0, role: worker, bootMAC: '52:54:00:00:00:02', bmc: {address: 'ipmi://198.51.100.2', credentials: {file: a}}}`+others+`]}}`), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Hosts {
		c.Hosts[i].BMC.Username, c.Hosts[i].BMC.Password = secret.New("admin"), secret.New("p4ss")
	}
	return p, c.Hosts
}

// applyManifests applies the files of render in the order of their names, as kubectl does: by a
// strict request that the API would answer, and then by one that counts. It returns the Deployments.
func applyManifests(t *testing.T, s *Server, p plan.Plan, hosts []spec.Host) map[string]appsv1.Deployment {
	t.Helper()
	set, err := cluster.ManifestsWith(p, metal3.Given{Hosts: hosts, CA: "CA"})
	if err != nil {
		t.Fatal(err)
	}
	deployments := map[string]appsv1.Deployment{}
	for _, f := range set.Files() {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal(f.Contents, &o.Object); err != nil {
			t.Fatal(err)
		}
		where := collection(o.GroupVersionKind(), o.GetNamespace()) + "?fieldValidation=Strict"
		for _, dry := range []string{"&dryRun=All", ""} {
			if err := s.Admin().Do(t.Context(), http.MethodPost, where+dry, o.Object, nil); err != nil {
				t.Errorf("%s%s: %v", path.Base(f.Path), dry, err)
			}
		}
		if o.GetKind() == "Deployment" {
			var d appsv1.Deployment
			if err := yaml.UnmarshalStrict(f.Contents, &d); err != nil {
				t.Fatal(err)
			}
			deployments[d.Name] = d
		}
	}
	return deployments
}

// tokenFor is a client of the API with a token of a service account, and its kubeconfig's path.
func tokenFor(t *testing.T, c *Cluster, s *Server, account string) (api *kube.API, log *bytes.Buffer, client *http.Client, token string) {
	t.Helper()
	var request authenticationv1.TokenRequest
	where := "/api/v1/namespaces/" + object.HostNamespace + "/serviceaccounts/" + account + "/token"
	if err := s.Admin().Do(t.Context(), http.MethodPost, where, &request, &request); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, c.authority.kubeconfig(s.URL(), "token: "+request.Status.Token), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := c.tls(s.adminIdentity(t, c))
	if err != nil {
		t.Fatal(err)
	}
	config.Certificates = nil
	log = &bytes.Buffer{}
	return kube.NewAPI(file, slog.New(slog.NewTextHandler(log, nil))), log,
		&http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}, request.Status.Token
}

// adminIdentity is any identity: of its configuration the authority counts.
func (s *Server) adminIdentity(t *testing.T, c *Cluster) Identity {
	t.Helper()
	id, err := c.Sign(Admin())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestMetal3 applies what render writes for a cluster of any Kubernetes to a real API: each object is
// taken as it is, each account may do what its program needs and no more, and both pods are admitted
// where they are to run. The operator's would be under the strictest level too.
func TestMetal3(t *testing.T) {
	c, s := Local(t, Server{})
	kinds(t, s)
	p, hosts := ironicCluster(t)
	deployments := applyManifests(t, s, p, hosts)
	if len(deployments) != 2 {
		t.Fatalf("%d Deployments", len(deployments))
	}
	strict := aNamespace("strict")
	strict.Labels = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}
	apply(t, s, strict)
	for name := range deployments {
		apply(t, s, &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "strict"}})
	}
	for name, d := range deployments {
		pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec}
		pod.Name = name
		for namespace, allowed := range map[string]bool{object.HostNamespace: true, "strict": name == workload.Operator} {
			var got corev1.Pod
			err := s.Admin().Do(t.Context(), http.MethodPost, "/api/v1/namespaces/"+namespace+"/pods", pod, &got)
			if refused := (Refusal{}); !allowed && (!errors.As(err, &refused) || !strings.Contains(refused.Message, "violates PodSecurity")) || allowed && err != nil {
				t.Errorf("%s in %s: %v, want allowed %v", name, namespace, err, allowed)
			}
			if allowed && err == nil && (got.Spec.Priority == nil || *got.Spec.Priority != 2000000000) {
				t.Errorf("%s has the priority %v", name, got.Spec.Priority)
			}
		}
	}
	identityOnce(t, c, s, p)
	accounts(t, c, s)
	released(t, c, s)
}

// released holds that hosts which render has paused begin once Ironic is ready, as in OpenShift.
func released(t *testing.T, c *Cluster, s *Server) {
	t.Helper()
	client := clientOf(t, c, s)
	client.Namespace, client.Place = "onprem-infra", object.AnyHosts()
	const hosts = "/apis/metal3.io/v1alpha1/namespaces/" + object.HostNamespace + "/baremetalhosts"
	o := &operators{t: t, api: s.Admin()}
	if f, err := client.Fleet(t.Context()); err != nil || scale.Release(f).Waits != "the cluster's own Ironic to be ready (the Deployment metal3-ironic)" || len(f.Hosts) != 2 || f.Pods != 1 {
		t.Fatalf("%+v, %v", f, err)
	}
	o.do(http.MethodPatch, "/apis/apps/v1/namespaces/"+object.HostNamespace+"/deployments/"+workload.Ironic+"/status", fields{"status": fields{"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}})
	if err := client.Release(t.Context(), func(_ scale.Round, failed error) {
		if failed != nil {
			t.Error(failed)
		}
	}); err != nil {
		t.Fatal(err)
	}
	for _, h := range o.list(hosts) {
		if _, paused := h.Metadata.Annotations[object.Paused]; paused {
			t.Errorf("%s is still paused", h.Metadata.Name)
		}
	}
}

// identityOnce holds that the first container makes Ironic's identity with its account, keeps it in
// another start, and logs nothing of it.
func identityOnce(t *testing.T, c *Cluster, s *Server, p plan.Plan) {
	t.Helper()
	api, log, _, _ := tokenFor(t, c, s, workload.Ironic)
	var made identity.Bundle
	for _, first := range []bool{true, false} {
		err := api.Change(t.Context(), object.HostNamespace, workload.Identity, func(now map[string][]byte) (map[string][]byte, error) {
			whole, changed, err := identity.Bundle(now).Complete(reads.TLSNames(p), time.Now())
			if changed != first {
				t.Errorf("made anew: %v, want %v", changed, first)
			}
			made = whole
			return whole, err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var kept corev1.Secret
	if err := s.Admin().Do(t.Context(), http.MethodGet, "/api/v1/namespaces/"+object.HostNamespace+"/secrets/"+workload.Identity, nil, &kept); err != nil {
		t.Fatal(err)
	}
	for key, value := range made {
		if !bytes.Equal(kept.Data[key], value) {
			t.Errorf("%s: the Secret has another value", key)
		}
	}
	if len(kept.Data) != 5 || strings.Contains(log.String(), string(made[identity.PasswordKey])) {
		t.Errorf("%d keys, log %q", len(kept.Data), log)
	}
	if err := api.Change(t.Context(), object.HostNamespace, "w0-bmc-secret", func(map[string][]byte) (map[string][]byte, error) {
		t.Error("the account of a BMC is read")
		return nil, nil
	}); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("another Secret: %v", err)
	}
}

// withheld are rights that the operator's release asks for and that ours does not give, each with why.
// A type that is named as "*" stands for all.
var withheld = map[string]string{
	"namespaces get":        "for hosts that another namespace claims: the operator watches its own alone",
	"secrets delete":        "of hosts that another namespace claims",
	"ironics *":             "Ironic's Deployment is ours, and no object of Ironic's operator",
	"hardware/finalizers *": "no such type",
	"configmaps *":          "leaders are elected by leases",
	"configmaps/status *":   "as before",
	"leases delete":         "a leader gives its lease back by an update",
}

// TestOperatorRights holds that metal3's operator has each right that its release asks for: it ends if
// it may not watch one of its types. Those that are withheld are asked for.
func TestOperatorRights(t *testing.T) {
	p, hosts := ironicCluster(t)
	set, err := cluster.ManifestsWith(p, metal3.Given{Hosts: hosts, CA: "CA"})
	if err != nil {
		t.Fatal(err)
	}
	has, reasons := map[string]bool{}, maps.Clone(withheld)
	each := func(rules []rbacv1.PolicyRule, do func(resource, verb string)) {
		for _, r := range rules {
			for _, resource := range r.Resources {
				for _, verb := range r.Verbs {
					do(resource, verb)
				}
			}
		}
	}
	for _, f := range set.Files() {
		var role rbacv1.Role
		if err := yaml.Unmarshal(f.Contents, &role); err != nil {
			t.Fatal(err)
		}
		if role.Kind == "Role" && role.Name == workload.Operator {
			each(role.Rules, func(resource, verb string) { has[resource+" "+verb] = true })
		}
	}
	dir, err := cache.Metal3Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"role.yaml", "leader_election_role.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, "rbac", name))
		if err != nil {
			t.Fatal(err)
		}
		var asked rbacv1.ClusterRole
		if err := yaml.Unmarshal(text, &asked); err != nil || len(asked.Rules) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		each(asked.Rules, func(resource, verb string) {
			right := resource + " " + verb
			_, one := withheld[right]
			_, all := withheld[resource+" *"]
			delete(reasons, right)
			delete(reasons, resource+" *")
			if has[right] == (one || all) {
				t.Errorf("%s: has %v, withheld %v", right, has[right], one || all)
			}
		})
	}
	for right := range reasons {
		t.Errorf("%s is withheld, and not asked for", right)
	}
}

// accounts holds what each service account may do, and some of what it may not.
func accounts(t *testing.T, c *Cluster, s *Server) {
	t.Helper()
	ours, theirs := "/api/v1/namespaces/"+object.HostNamespace, "/api/v1/namespaces/kube-system"
	hosts := "/apis/metal3.io/v1alpha1/namespaces/" + object.HostNamespace + "/baremetalhosts"
	for account, calls := range map[string]map[string]int{
		workload.Ironic: {"GET " + ours + "/secrets": 403, "GET " + ours + "/secrets/" + workload.Identity: 200, "GET " + hosts: 403, "GET " + ours + "/configmaps": 403,
			"DELETE " + ours + "/secrets/" + workload.Identity: 403, "POST " + ours + "/secrets": 403, "GET /api/v1/nodes": 403},
		workload.Operator: {"GET " + ours + "/secrets": 200, "GET " + hosts: 200, "GET " + hosts + "/w0/status": 200, "GET " + theirs + "/secrets": 403, "GET /api/v1/secrets": 403,
			"DELETE " + ours + "/secrets/w0-bmc-secret": 403, "POST " + ours + "/secrets": 403, "POST " + ours + "/pods": 403, "GET /api/v1/nodes": 403,
			"GET /apis/coordination.k8s.io/v1/namespaces/" + object.HostNamespace + "/leases": 200},
	} {
		_, _, client, token := tokenFor(t, c, s, account)
		for call, want := range calls {
			method, where, _ := strings.Cut(call, " ")
			request, err := http.NewRequestWithContext(t.Context(), method, s.URL()+where, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+token)
			request.Header.Set("Content-Type", "application/json")
			answer, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s: %s: %d, want %d", account, call, answer.StatusCode, want)
			}
		}
	}
}
