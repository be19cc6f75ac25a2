package podvip

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/workload"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/fakemetal3"
	"github.com/onprem-infra/onprem-infra/test/ironic"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/manifest"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// ironicPod is its name, and ironicAt the node that has the name of its Service: the first one.
var ironicPod, ironicAt = workload.Ironic, "192.0.2.11"

// withIronic takes Debian's Ironic for the image of Ironic: its root, over which the mount points of
// containers are made, so that the kept one stays as it is.
func (l *lan) withIronic(name string) {
	l.t.Helper()
	need.Command(l.t, "debootstrap")
	root, err := ironic.Root(l.t.Context(), slog.Default())
	if err != nil {
		need.Missing(l.t, fmt.Sprintf("needs a root file system with Ironic: %v", err))
	}
	layers := filepath.Join(l.dir, "ironic-layers")
	for _, dir := range []string{"upper", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(layers, dir), 0o755); err != nil {
			l.t.Fatal(err)
		}
	}
	merged := filepath.Join(layers, "merged")
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", root, layers, layers)
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = unix.Unmount(merged, unix.MNT_DETACH) }) // the directory goes with the test
	l.images[name] = merged
}

// realAPI is a real API server on a host of its own, with the objects of the cluster's Ironic.
type realAPI struct {
	*kubeapi.Cluster
	host       *lab.Host
	server     *kubeapi.Server
	deployment appsv1.Deployment
	operator   appsv1.Deployment // of metal3's operator, if the plan has its image
	data       map[string]string // of the ConfigMap
}

const realAPIAt = "192.0.2.91"

// realAPI starts it, and applies what render writes. bmcCA verifies BMCs; empty for the image's own.
func (s *site) realAPI(bmcCA string) *realAPI {
	s.t.Helper()
	if err := kubeapi.Programs(s.t.Context()); err != nil {
		need.Missing(s.t, "needs kube-apiserver: "+err.Error())
	}
	need.Command(s.t, "etcd")
	host, dir := s.add("api2", realAPIAt), filepath.Join(s.dir, "api2")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	c, err := kubeapi.Open(s.t.Context(), kubeapi.Config{Dir: dir, Etcd: host})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	server, err := c.Add(kubeapi.Server{Name: "api2", Place: host, Address: netip.MustParseAddrPort(realAPIAt + ":6443")})
	if err == nil {
		err = server.Start(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
	a := &realAPI{Cluster: c, host: host, server: server}
	if err := fakemetal3.Publish(s.t.Context(), server.Admin()); err != nil {
		s.t.Fatal(err)
	}
	described := slices.Clone(s.hosts)
	for i := range described {
		described[i].BMC.Username, described[i].BMC.Password = secret.New(qemuhost.User), secret.New(qemuhost.Password)
	}
	set, err := cluster.ManifestsWith(s.plan, metal3.Given{Hosts: described, CA: bmcCA})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range set.Files() {
		var o unstructured.Unstructured
		if err := yaml.Unmarshal(f.Contents, &o.Object); err != nil {
			s.t.Fatal(err)
		}
		if err := server.Apply(s.t.Context(), &o); err != nil {
			s.t.Fatal(err)
		}
		if o.GetKind() != "Deployment" && o.GetKind() != "ConfigMap" {
			continue
		}
		known, err := manifest.Object(f.Contents)
		if err != nil {
			s.t.Fatal(err)
		}
		switch one := known.(type) {
		case *appsv1.Deployment:
			if one.Name == workload.Operator {
				a.operator = *one
			} else {
				a.deployment = *one
			}
		case *corev1.ConfigMap:
			a.data = one.Data
		}
	}
	return a
}

// identity is what Ironic's Secret has.
func (a *realAPI) identity(t *testing.T) map[string][]byte { return a.secret(t, workload.Identity) }

func (a *realAPI) secret(t *testing.T, name string) map[string][]byte {
	t.Helper()
	var s corev1.Secret
	if err := a.server.Admin().Do(t.Context(), http.MethodGet, "/api/v1/namespaces/"+object.HostNamespace+"/secrets/"+name, nil, &s); err != nil {
		t.Fatal(err)
	}
	return s.Data
}

// schedule puts a Deployment's pod onto a node as a static pod. What kubelet makes of an object of the
// API is in a directory of the node: a ConfigMap, a Secret, a token and the CA. The name of Ironic's
// Service is the first node, where Ironic runs.
func (a *realAPI) schedule(t *testing.T, n *node, d appsv1.Deployment) {
	t.Helper()
	template := d.Spec.Template
	pod := corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: *template.Spec.DeepCopy()}
	pod.APIVersion, pod.Kind, pod.Name, pod.Namespace = "v1", "Pod", d.Name, object.HostNamespace
	var files []asset.File
	for i, v := range pod.Spec.Volumes {
		dir := "/kubelet/" + d.Name + "/" + v.Name
		contents := map[string][]byte{}
		switch {
		case v.ConfigMap != nil:
			for name, text := range a.data {
				contents[name] = []byte(text)
			}
		case v.Secret != nil:
			contents = a.secret(t, v.Secret.SecretName)
		case v.Projected != nil:
			contents["token"], contents["ca.crt"] = a.token(t, pod.Spec.ServiceAccountName), a.CA()
		default:
			continue
		}
		for name, content := range contents {
			files = append(files, asset.File{Path: dir + "/" + name, Mode: 0o600, Contents: content})
		}
		pod.Spec.Volumes[i].VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: dir}}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Env = append(containers[i].Env, corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: realAPIAt}, corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: "6443"})
		}
	}
	text, err := yaml.Marshal(pod)
	if err != nil {
		t.Fatal(err)
	}
	service := fmt.Sprintf("127.0.0.1 localhost\n::1 localhost\n%s %s.%s.svc\n", ironicAt, workload.Ironic, object.HostNamespace)
	files = append(files, asset.File{Path: "/etc/hosts", Mode: 0o644, Contents: []byte(service)},
		asset.File{Path: "/etc/kubernetes/manifests/" + d.Name + ".yaml", Mode: 0o600, Contents: text})
	if err := n.Write(files...); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := n.Start(ctx); err != nil {
		t.Fatalf("%v\n%s", err, n.Log(d.Name+"/prepare"))
	}
}

// token is one of a service account.
func (a *realAPI) token(t *testing.T, account string) []byte {
	t.Helper()
	var request authenticationv1.TokenRequest
	if err := a.server.Admin().Do(t.Context(), http.MethodPost, "/api/v1/namespaces/"+object.HostNamespace+"/serviceaccounts/"+account+"/token", &request, &request); err != nil {
		t.Fatal(err)
	}
	return []byte(request.Status.Token)
}

// TestLongIronicInCluster runs the Deployment's pod with the real Ironic on one of three nodes, as its
// manifest confines it, with an identity that it makes in a real API. Ironic serves drivers over TLS to
// the account that was made; the shared address comes to its node; a host finds its scripts there, and
// no secret. On another node the pod has the same identity.
func TestLongIronicInCluster(t *testing.T) {
	s := openSite(t)
	s.withIronic("ironic-real:1")
	s.plan.Images[spec.IronicAgentImage], s.plan.Images[spec.OSImage] = "ironic-real:1", "file:///none/os.raw@sha256:"+strings.Repeat("0", 64)
	inPods := s.plan
	inPods.Images = map[string]string{}
	for key, image := range s.plan.Images {
		inPods.Images[key] = image
	}
	inPods.Images[spec.IronicImage] = "ironic-real:1"
	s.plan = inPods
	api := s.realAPI("")
	observer := s.holders()
	n := s.nodes[0]
	t.Cleanup(func() {
		if t.Failed() {
			for _, name := range []string{"copy-ramdisk", "copy-programs", "prepare", "ironic", "http"} {
				t.Logf("%s says:\n%s", name, n.Log(ironicPod+"/"+name))
			}
		}
	})
	if len(api.identity(t)) > 0 {
		t.Fatal("the Secret has data before the pod has run")
	}
	api.schedule(t, n, api.deployment)
	own := api.identity(t)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(own["tls.crt"]) {
		t.Fatal("the Secret has no certificate")
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: n.Host.Dial, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "localhost"}}}
	get := func(url string, login bool) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if login {
			request.SetBasicAuth(string(own["username"]), string(own["password"]))
		}
		answer, err := client.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			return 0, err.Error()
		}
		return answer.StatusCode, string(text)
	}
	took := s.until("Ironic serves its driver", 3*time.Minute, func() bool {
		var list struct{ Drivers []struct{ Name string } }
		code, text := get("https://127.0.0.1:6385/v1/drivers", true)
		return code == http.StatusOK && json.Unmarshal([]byte(text), &list) == nil && len(list.Drivers) == 1 && list.Drivers[0].Name == "ipmi"
	})
	t.Logf("Ironic serves %v after its pod's first containers", took)
	if code, text := get("https://127.0.0.1:6385/v1/nodes", false); code != http.StatusUnauthorized {
		t.Errorf("without the account: %d %s", code, text)
	}
	s.until("the worker is answered", time.Minute, func() bool { return !s.worker.last().IsZero() })
	if got := observer.Holders(); !slices.Equal(got, []string{n.Host.Name}) {
		t.Errorf("Ironic answers on %s, and %v have the address", n.Host.Name, got)
	}
	at := "http://" + provisioningVIP + ":6180/"
	for name, want := range map[string]int{"boot.ipxe": 200, "hosts/52-54-00-22-00-09.ipxe": 200, "hosts/52-54-00-22-00-01.ipxe": 404, "images/ironic-trust.img": 200,
		"ironic.sqlite": 404, "../database/ironic.sqlite": 404, "../tls/ironic.key": 404, "images/agent.kernel": 503} {
		if code, text := get(at+name, false); code != want {
			t.Errorf("%s: %d %s, want %d", name, code, text, want)
		}
	}
	if code, text := get("https://"+provisioningVIP+":6183/redfish/none.iso", false); code != http.StatusNotFound {
		t.Errorf("media over TLS: %d %s", code, text)
	}
	for _, container := range []string{"prepare", "ironic", "http"} {
		for _, key := range []string{"password", "tls.key", "htpasswd"} {
			if strings.Contains(n.Log(ironicPod+"/"+container), strings.TrimSpace(string(own[key]))) {
				t.Errorf("%s logs the %s", container, key)
			}
		}
	}
	if err := n.Stop(ironicPod); err != nil {
		t.Fatal(err)
	}
	n = s.nodes[1]
	api.schedule(t, n, api.deployment)
	if again := api.identity(t); len(again) != 5 || string(again["password"]) != string(own["password"]) || string(again["tls.crt"]) != string(own["tls.crt"]) {
		t.Error("the pod has another identity on another node")
	}
	s.until("Ironic serves on the other node", 3*time.Minute, func() bool {
		client.Transport.(*http.Transport).DialContext = n.Host.Dial
		code, _ := get("https://127.0.0.1:6385/v1/drivers", true)
		return code == http.StatusOK
	})
	s.until("the address follows", time.Minute, func() bool { return slices.Equal(observer.Holders(), []string{n.Host.Name}) })
}
