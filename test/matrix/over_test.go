package matrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// theirs are the operator's own templates for what ours do, as of its release 4.22, with what each
// makes. What a template makes is not always what its name says, and only by the name does one take
// another's place.
var theirs = map[string]string{
	"common/_base/files/NetworkManager-ipv6.conf.yaml":                   ipv6Settings,
	"common/_base/files/wait-for-node-ip.yaml":                           "/usr/local/bin/wait-for-node-ip.sh",
	"common/_base/units/nodeip-configuration.service.yaml":               "nodeip-configuration.service",
	"common/_base/units/wait-for-primary-ip.yaml":                        "wait-for-node-ip.service",
	"common/on-prem/files/NetworkManager-onprem.conf.yaml":               "/etc/NetworkManager/conf.d/99-SHORT.conf",
	"common/on-prem/files/NetworkManager-resolv-prepender.yaml":          "/etc/NetworkManager/dispatcher.d/30-resolv-prepender",
	"common/on-prem/files/configure-ip-forwarding.yaml":                  "/usr/local/bin/configure-ip-forwarding.sh",
	"common/on-prem/files/coredns-corefile.yaml":                         "/etc/kubernetes/static-pod-resources/coredns/Corefile.tmpl",
	"common/on-prem/files/coredns.yaml":                                  runs + "coredns.yaml",
	"common/on-prem/files/keepalived-script-default-ingress.yaml":        "/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_default_ingress.sh.tmpl",
	"common/on-prem/files/keepalived.yaml":                               runs + "keepalived.yaml",
	"common/on-prem/files/resolv-prepender.yaml":                         "/usr/local/bin/resolv-prepender.sh",
	"common/on-prem/files/wait-for-br-ex-up.yaml":                        "/usr/local/bin/wait-for-br-ex-up.sh",
	"common/on-prem/units/kubelet.service-wait-resolv.yaml":              "kubelet.service",
	"common/on-prem/units/nodeip-configuration.service.yaml":             "nodeip-configuration.service",
	"common/on-prem/units/on-prem-resolv-prepender.path.yaml":            "on-prem-resolv-prepender.path",
	"common/on-prem/units/on-prem-resolv-prepender.service.yaml":         "on-prem-resolv-prepender.service",
	"common/on-prem/units/wait-for-br-ex-up.yaml":                        "wait-for-br-ex-up.service",
	"common/vsphere/units/nodeip-configuration-vsphere-upi.service.yaml": "nodeip-configuration-vsphere-upi.service",
	"master/00-master/on-prem/files/haproxy-haproxy.yaml":                "/etc/kubernetes/static-pod-resources/haproxy/haproxy.cfg.tmpl",
	"master/00-master/on-prem/files/haproxy.yaml":                        runs + "haproxy.yaml",
	"master/00-master/on-prem/files/keepalived-keepalived.yaml":          "/etc/kubernetes/static-pod-resources/keepalived/keepalived.conf.tmpl",
	"master/00-master/on-prem/files/keepalived-mcs-script.yaml":          "/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_mcs_script.sh.tmpl",
	"master/00-master/on-prem/files/keepalived-script-both.yaml":         "/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_ocp_script_both.sh.tmpl",
	"master/00-master/on-prem/files/keepalived-script.yaml":              "/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_ocp_script.sh.tmpl",
	"worker/00-worker/on-prem/files/keepalived-keepalived.yaml":          "/etc/kubernetes/static-pod-resources/keepalived/keepalived.conf.tmpl",
	"arbiter/00-arbiter/on-prem/files/haproxy-haproxy.yaml":              "/etc/kubernetes/static-pod-resources/haproxy/haproxy.cfg.tmpl",
	"arbiter/00-arbiter/on-prem/files/haproxy.yaml":                      runs + "haproxy.yaml",
	"arbiter/00-arbiter/on-prem/files/keepalived-keepalived.yaml":        "/etc/kubernetes/static-pod-resources/keepalived/keepalived.conf.tmpl",
	"arbiter/00-arbiter/on-prem/files/keepalived-mcs-script.yaml":        "/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_mcs_script.sh.tmpl",
	"arbiter/00-arbiter/on-prem/files/keepalived-script-both.yaml":       "/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_ocp_script_both.sh.tmpl",
	"arbiter/00-arbiter/on-prem/files/keepalived-script.yaml":            "/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_ocp_script.sh.tmpl",
	// By the names that it has had, in releases that have it for one platform and for all.
	"common/baremetal/files/baremetal-keepalived-flip-mode.yaml": monitorMode,
	"common/on-prem/files/baremetal-keepalived-flip-mode.yaml":   monitorMode,
	"common/on-prem/files/keepalived-flip-mode.yaml":             monitorMode,
}

// monitorMode says how the operator's own monitors have keepalived speak.
const monitorMode = "/etc/keepalived/monitor.conf"

// ipv6Settings are the operator's for every platform. Where we bring none its own stay.
const ipv6Settings = "/etc/NetworkManager/conf.d/01-ipv6.conf"

// TestOver lays our tree over the operator's own, as a release would: nothing of theirs is left of
// what ours do, and nothing of theirs is merged into it.
func TestOver(t *testing.T) {
	all := map[string]asset.File{}
	for name, makes := range theirs {
		text := fmt.Sprintf("name: %s\nenabled: true\ncontents: |\n  # theirs\n", makes)
		if strings.HasPrefix(makes, "/") {
			text = fmt.Sprintf("mode: 0600\npath: %s\ncontents:\n  inline: theirs\n", strings.ReplaceAll(makes, "SHORT", "{{ onPremPlatformShortName . }}"))
		}
		all["/templates/"+name] = asset.File{Path: "/templates/" + name, Contents: []byte(text)}
	}
	for _, f := range tree(t, spec.Cluster{}) {
		all[f.Path] = f
	}
	var laid []asset.File
	for _, f := range all {
		laid = append(laid, f)
	}
	o, err := newOperator(laid)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells() {
		if c.families != "IPv4" || c.records != spec.Internal {
			continue
		}
		described, _ := c.described(t)
		p := compiled(t, c.operated(described))
		for _, r := range p.Roles() {
			if r == role.Bootstrap {
				continue
			}
			config, err := o.render(c.controllerConfig(), string(r))
			if err != nil {
				t.Fatal(err)
			}
			want := goods(t, p, r).Tree()
			got := slices.DeleteFunc(set(t, config).Tree(), func(f asset.File) bool { return f.Path == ipv6Settings && c.noVIPs })
			if err := alike(got, want); err != nil {
				t.Errorf("%s, %s: %v", c, r, err)
			}
		}
	}
}
