package reads

import (
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func compiled(t *testing.T) plan.Plan {
	t.Helper()
	c, findings := spec.Parse("cluster.yaml", []byte(`{apiVersion: onprem-infra.io/v1alpha1, kind: Cluster, metadata: {name: prod}, spec: {
  baseDomain: example.com, platform: baremetal, distribution: kubernetes, controlPlaneReplicas: 1,
  machineNetworks: [192.0.2.0/24], apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6], provisioning: {network: managed}, images: {ironicImage: 'r/ironic:1'},
  hosts: [{name: m0, role: master, bootMAC: '52:54:00:00:00:01', bmc: {address: 'redfish://198.51.100.1/redfish/v1/Systems/1', credentials: {file: a}}},
    {name: w0, role: worker, bootMAC: '52:54:00:00:00:02', bmc: {address: 'ipmi://198.51.100.2', credentials: {file: a}}}]}}`), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFiles holds that hosts of the cluster find their scripts where dnsmasq's answers name them, that
// hosts of the control plane have none, and that Ironic can switch these.
func TestFiles(t *testing.T) {
	files, err := Files(compiled(t), Node{Certificate: []byte("CERTIFICATE")})
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	for _, f := range files {
		if text[f.Path] = string(f.Contents); f.Mode != 0o644 {
			t.Errorf("%s has mode %v", f.Path, f.Mode)
		}
	}
	const http = "/var/lib/onprem-infra/provisioning/http/"
	if !strings.Contains(text[http+"boot.ipxe"], "hosts/") || text[http+"hosts/52-54-00-00-00-02.ipxe"] == "" || text[http+"hosts/52-54-00-00-00-01.ipxe"] != "" || text[http+"images/ironic-trust.img"] == "" {
		t.Errorf("files %v", files)
	}
	conf := text["/run/onprem-infra/provisioning/ironic/ironic.conf"]
	for _, line := range []string{"host = onprem-cluster", "enabled_hardware_types = ipmi,redfish", "http_url = http://172.22.0.3:6180", "automated_clean = true", "public_endpoint = https://172.22.0.3:6385", "/database/ironic.sqlite"} {
		if !strings.Contains(conf, line) {
			t.Errorf("no %q in\n%s", line, conf)
		}
	}
}

// TestTLSNames holds that the certificate is for each name in a URL of Ironic's.
func TestTLSNames(t *testing.T) {
	names := TLSNames(compiled(t))
	for _, want := range []string{"172.22.0.3", "localhost", "metal3-ironic", "metal3-ironic.onprem-infra-metal3", "metal3-ironic.onprem-infra-metal3.svc"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %v", want, names)
		}
	}
}

// TestImage holds what metal3 writes to disks: the image that the server beside Ironic has verified,
// with the digest of what it serves.
func TestImage(t *testing.T) {
	const at, zeros = "http://172.22.0.3:6180/images/", "0000000000000000000000000000000000000000000000000000000000000000"
	for text, want := range map[string]object.Image{
		"http://192.0.2.9/x.raw@sha256:" + zeros:      {URL: at + "os.raw", Checksum: zeros, ChecksumType: "sha256", Format: "raw"},
		"http://192.0.2.9/x.qcow2@sha256:" + zeros:    {URL: at + "os.qcow2", Checksum: zeros, ChecksumType: "sha256", Format: "qcow2"},
		"http://192.0.2.9/x.raw.gz@sha256:" + zeros:   {URL: at + "os.raw", Checksum: at + "os.raw.sha256", ChecksumType: "sha256", Format: "raw"},
		"http://192.0.2.9/x.qcow2.gz@sha256:" + zeros: {URL: at + "os.qcow2", Checksum: at + "os.qcow2.sha256", ChecksumType: "sha256", Format: "qcow2"},
	} {
		p := compiled(t)
		p.Images[spec.OSImage] = text
		if got, err := Image(p); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"": "images.osImage: it is missing", "http://192.0.2.9/x.raw": "images.osImage: it has no digest"} {
		p := compiled(t)
		p.Images[spec.OSImage] = text
		if _, err := Image(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
