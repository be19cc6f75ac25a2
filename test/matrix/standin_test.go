package matrix

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"text/template"

	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/vincent-petithory/dataurl"
	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// This file is a STAND-IN for the Machine Config Operator's renderer: its layers, its functions and
// its way from templates to an Ignition config, as far as a tree of ours meets them. It is written
// from a description of that interface and is no part of the product.

// controllerConfigSpec has the fields of the operator's ControllerConfigSpec that templates can use
// and ours do.
type controllerConfigSpec struct {
	Infra      *infrastructure
	DNS        *dns
	IPFamilies ipFamilies
	Images     map[string]string
	Proxy      *proxy
	// BGPVIPPeersJSON is in releases that know vipManagement.
	BGPVIPPeersJSON string
}

// renderConfig is what a template is executed on.
type renderConfig struct {
	*controllerConfigSpec
	PullSecret string
	Constants  map[string]string
}

type (
	ipFamilies   string
	platformType string
	topologyMode string
	balancerType string
	recordsType  string
	cidr         string
	management   string

	proxy          struct{ HTTPProxy, HTTPSProxy, NoProxy string }
	dns            struct{ Spec struct{ BaseDomain string } }
	infrastructure struct{ Status infrastructureStatus }

	infrastructureStatus struct {
		PlatformStatus       *platformStatus
		ControlPlaneTopology topologyMode
	}
	platformStatus struct {
		Type      platformType
		BareMetal *baremetalStatus
		OpenStack *openstackStatus
		Ovirt     *ovirtStatus
		VSphere   *vsphereStatus
		Nutanix   *nutanixStatus
	}
	loadBalancer struct{ Type balancerType }

	// Which platform's status has which field is the API's: not all have machine networks or a
	// records type.
	fullStatus struct {
		APIServerInternalIPs, IngressIPs []string
		LoadBalancer                     *loadBalancer
		DNSRecordsType                   recordsType
		MachineNetworks                  []cidr
	}
	baremetalStatus struct {
		fullStatus
		VIPManagement management // as BGPVIPPeersJSON
	}
	openstackStatus fullStatus
	vsphereStatus   fullStatus
	nutanixStatus   struct {
		APIServerInternalIPs, IngressIPs []string
		LoadBalancer                     *loadBalancer
		DNSRecordsType                   recordsType
	}
	ovirtStatus struct {
		APIServerInternalIPs, IngressIPs []string
		LoadBalancer                     *loadBalancer
	}
)

// common is what the functions read of any platform's status.
type common struct {
	api, ingress []string
	balancer     *loadBalancer
	records      recordsType
	there        bool
}

func (c controllerConfigSpec) common() common {
	switch s := c.Infra.Status.PlatformStatus; {
	case s.BareMetal != nil:
		return common{s.BareMetal.APIServerInternalIPs, s.BareMetal.IngressIPs, s.BareMetal.LoadBalancer, s.BareMetal.DNSRecordsType, true}
	case s.OpenStack != nil:
		return common{s.OpenStack.APIServerInternalIPs, s.OpenStack.IngressIPs, s.OpenStack.LoadBalancer, s.OpenStack.DNSRecordsType, true}
	case s.VSphere != nil:
		return common{s.VSphere.APIServerInternalIPs, s.VSphere.IngressIPs, s.VSphere.LoadBalancer, s.VSphere.DNSRecordsType, true}
	case s.Nutanix != nil:
		return common{s.Nutanix.APIServerInternalIPs, s.Nutanix.IngressIPs, s.Nutanix.LoadBalancer, s.Nutanix.DNSRecordsType, true}
	case s.Ovirt != nil:
		return common{s.Ovirt.APIServerInternalIPs, s.Ovirt.IngressIPs, s.Ovirt.LoadBalancer, "", true}
	}
	return common{api: []string{}, ingress: []string{}}
}

// shortNames are of the platforms on premises.
var shortNames = map[platformType]string{"BareMetal": "kni", "OpenStack": "openstack", "oVirt": "ovirt", "VSphere": "vsphere", "Nutanix": "nutanix"}

// sharedFuncs take the spec: the bootstrap command has these.
func sharedFuncs() template.FuncMap {
	return template.FuncMap{
		"toString": func(v any) string { return fmt.Sprint(v) },
		"indent": func(n int, s string) string {
			pad := strings.Repeat(" ", n)
			return pad + strings.ReplaceAll(s, "\n", "\n"+pad)
		},
		"join":                               strings.Join,
		"onPremPlatformAPIServerInternalIPs": func(c controllerConfigSpec) (any, error) { return c.common().api, nil },
		"onPremPlatformIngressIPs":           func(c controllerConfigSpec) (any, error) { return c.common().ingress, nil },
		"onPremPlatformShortName":            func(c controllerConfigSpec) any { return shortNames[c.Infra.Status.PlatformStatus.Type] },
	}
}

// nodeFuncs take what a node's templates are executed on.
func nodeFuncs() template.FuncMap {
	funcs := sharedFuncs()
	funcs["onPremPlatformAPIServerInternalIPs"] = func(c renderConfig) (any, error) { return c.common().api, nil }
	funcs["onPremPlatformIngressIPs"] = func(c renderConfig) (any, error) { return c.common().ingress, nil }
	funcs["onPremPlatformShortName"] = func(c renderConfig) any { return shortNames[c.Infra.Status.PlatformStatus.Type] }
	funcs["platformType"] = func(c renderConfig) (any, error) { return c.Infra.Status.PlatformStatus.Type, nil }
	funcs["skip"] = func(key string) (any, error) { return "{{." + key + "}}", nil }
	funcs["urlHost"] = func(text string) (any, error) { u, err := url.Parse(text); return u.Hostname(), err }
	funcs["isOpenShiftManagedDefaultLB"] = func(c renderConfig) bool {
		is := c.common()
		if !is.there || c.Infra.Status.PlatformStatus.VSphere != nil && len(is.api) == 0 {
			return false
		}
		return is.balancer == nil || is.balancer.Type == "OpenShiftManagedDefault"
	}
	funcs["dnsRecordsType"] = func(c renderConfig) (any, error) { return cmp.Or(c.common().records, "Internal"), nil }
	return funcs
}

// routedFuncs are nodeFuncs of a release that knows vipManagement.
func routedFuncs() template.FuncMap {
	funcs := nodeFuncs()
	funcs["isBGPVIPManagement"] = func(c renderConfig) bool { return c.byBGP() }
	return funcs
}

// byBGP is the operator's own notion of a cluster whose hosts announce VIPs, whatever balances.
func (c controllerConfigSpec) byBGP() bool {
	s := c.Infra.Status.PlatformStatus.BareMetal
	return s != nil && s.VIPManagement == "BGP" && len(s.APIServerInternalIPs) > 0 && len(s.IngressIPs) > 0
}

// operator is the stand-in with a tree of templates.
type operator struct{ templates map[string]*template.Template } // nil for an empty file

func newOperator(tree []asset.File) (operator, error) { return operatorWith(tree, nodeFuncs) }

// operatorWith is a release with these functions for nodes' templates.
func operatorWith(tree []asset.File, nodeFuncs func() template.FuncMap) (operator, error) {
	o := operator{templates: map[string]*template.Template{}}
	for _, f := range tree {
		funcs := nodeFuncs()
		if strings.HasPrefix(f.Path, "/manifests/") {
			funcs = sharedFuncs()
		}
		if len(f.Contents) == 0 {
			o.templates[f.Path] = nil
			continue
		}
		parsed, err := template.New(f.Path).Funcs(funcs).Parse(string(f.Contents))
		if err != nil {
			return operator{}, err
		}
		o.templates[f.Path] = parsed
	}
	return o, nil
}

// layers are where templates of a cluster lie, in the order in which they replace each other.
func layers(c *controllerConfigSpec) []string {
	list := []string{"_base"}
	if _, ok := shortNames[c.Infra.Status.PlatformStatus.Type]; ok {
		list = append(list, "on-prem")
	}
	list = append(list, strings.ToLower(string(c.Infra.Status.PlatformStatus.Type)))
	switch c.Infra.Status.ControlPlaneTopology {
	case "SingleReplica":
		list = append(list, "sno")
	case "DualReplica":
		list = append(list, "two-node-with-fencing")
	}
	return list
}

// render makes the Ignition config 00-ROLE.
func (o operator) render(c *controllerConfigSpec, role string) (types.Config, error) {
	kinds := map[string]map[string]string{"files": {}, "units": {}}
	for _, dir := range []string{"common", role + "/00-" + role} {
		for _, layer := range layers(c) {
			for kind, made := range kinds {
				if err := o.fill(made, path.Join("/templates", dir, layer, kind), renderConfig{controllerConfigSpec: c}); err != nil {
					return types.Config{}, err
				}
			}
		}
	}
	return transpile(inOrder(kinds["files"]), inOrder(kinds["units"]))
}

// fill executes the templates of a directory. An empty one takes away what was made by one of its
// name before; one that gives nothing makes nothing.
func (o operator) fill(made map[string]string, dir string, config any) error {
	for at, parsed := range o.templates {
		if path.Dir(at) != dir {
			continue
		}
		if parsed == nil {
			delete(made, path.Base(at))
			continue
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, config); err != nil {
			return err
		}
		if len(bytes.TrimSpace(out.Bytes())) > 0 {
			made[path.Base(at)] = out.String()
		}
	}
	return nil
}

func inOrder(made map[string]string) []string {
	var names, texts []string
	for name := range made {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		texts = append(texts, made[name])
	}
	return texts
}

// The fields of Butane that a template may have (base 0.1). Others are an error here, where the
// operator passes over them.
type (
	butaneFile struct {
		Path     string    `json:"path"`
		Mode     *int      `json:"mode"`
		User     *struct{} `json:"user"`
		Group    *struct{} `json:"group"`
		Contents struct {
			Source *string `json:"source"`
			Inline *string `json:"inline"`
		} `json:"contents"`
	}
	butaneUnit struct {
		Name     string  `json:"name"`
		Enabled  *bool   `json:"enabled"`
		Mask     *bool   `json:"mask"`
		Contents *string `json:"contents"`
		Dropins  []struct {
			Name     string  `json:"name"`
			Contents *string `json:"contents"`
		} `json:"dropins"`
	}
)

// transpile is Butane's way from such documents to Ignition's. They are merged in their order: of
// two of one path or one unit the later one has the word.
func transpile(files, units []string) (types.Config, error) {
	config := types.Config{Ignition: types.Ignition{Version: "3.2.0"}}
	overwrite := true
	for _, text := range files {
		var f butaneFile
		if err := yaml.UnmarshalStrict([]byte(text), &f); err != nil {
			return config, fmt.Errorf("%w in\n%s", err, text)
		}
		if f.Contents.Inline == nil {
			return config, errors.New("no inline contents in\n" + text)
		}
		source := (&url.URL{Scheme: "data", Opaque: "," + dataurl.EscapeString(*f.Contents.Inline)}).String()
		config.Storage.Files = append(slices.DeleteFunc(config.Storage.Files, func(before types.File) bool { return before.Path == f.Path }), types.File{
			Node: types.Node{Path: f.Path, Overwrite: &overwrite}, FileEmbedded1: types.FileEmbedded1{Mode: f.Mode, Contents: types.Resource{Source: &source}},
		})
	}
	for _, text := range units {
		var u butaneUnit
		if err := yaml.UnmarshalStrict([]byte(text), &u); err != nil {
			return config, fmt.Errorf("%w in\n%s", err, text)
		}
		unit := types.Unit{Name: u.Name, Enabled: u.Enabled, Mask: u.Mask, Contents: u.Contents}
		for _, d := range u.Dropins {
			unit.Dropins = append(unit.Dropins, types.Dropin{Name: d.Name, Contents: d.Contents})
		}
		i := slices.IndexFunc(config.Systemd.Units, func(before types.Unit) bool { return before.Name == unit.Name })
		if i < 0 {
			config.Systemd.Units = append(config.Systemd.Units, unit)
			continue
		}
		config.Systemd.Units[i] = merged(config.Systemd.Units[i], unit)
	}
	return config, nil
}

// merged is a unit of which two documents speak.
func merged(before, after types.Unit) types.Unit {
	before.Enabled, before.Mask, before.Contents = cmp.Or(after.Enabled, before.Enabled), cmp.Or(after.Mask, before.Mask), cmp.Or(after.Contents, before.Contents)
	for _, d := range after.Dropins {
		before.Dropins = append(slices.DeleteFunc(before.Dropins, func(b types.Dropin) bool { return b.Name == d.Name }), d)
	}
	return before
}

// bootstrapConfig is what the bootstrap command's manifests are executed on.
type bootstrapConfig struct {
	ControllerConfig controllerConfigSpec
	Infra            infrastructure
	Images           struct{ KeepalivedBootstrap, CorednsBootstrap, BaremetalRuntimeCfgBootstrap, FRRK8sBootstrap string }
}

// bootstrap is what the bootstrap command writes for on-premises networking, by the path that
// bootkube copies it to.
func (o operator) bootstrap(c *controllerConfigSpec) (map[string]string, error) {
	config := bootstrapConfig{ControllerConfig: *c, Infra: *c.Infra}
	config.Images.KeepalivedBootstrap, config.Images.CorednsBootstrap = c.Images["keepalivedImage"], c.Images["corednsImage"]
	config.Images.BaremetalRuntimeCfgBootstrap, config.Images.FRRK8sBootstrap = c.Images["baremetalRuntimeCfgImage"], c.Images["frrK8sImage"]
	is := c.common()
	ours := is.balancer == nil || is.balancer.Type == "OpenShiftManagedDefault"
	if c.Infra.Status.PlatformStatus.Type == "VSphere" && (!ours || len(is.api) == 0) {
		return nil, nil
	}
	known := map[string]string{"coredns.yaml": "manifests/coredns.yaml", "coredns-corefile.tmpl": "static-pod-resources/coredns/Corefile.tmpl"}
	if ours && c.byBGP() {
		// There are three more, which the pods of the operator's own read.
		known["0000-frr-k8s.yaml"], known["0010-kube-vip-api.yaml"] = "manifests/0000-frr-k8s.yaml", "manifests/0010-kube-vip-api.yaml"
		known["frr-peers.json.tmpl"] = "static-pod-resources/frr-k8s/frr-peers.json"
		if len(is.api) > 1 {
			known["0011-kube-vip-api-secondary.yaml"] = "manifests/0011-kube-vip-api-secondary.yaml"
		}
	} else if ours {
		known["keepalived.yaml"], known["keepalived.conf.tmpl"] = "manifests/keepalived.yaml", "static-pod-resources/keepalived/keepalived.conf.tmpl"
	}
	made := map[string]string{}
	for name, to := range known {
		parsed := o.templates["/manifests/on-prem/"+name]
		if parsed == nil {
			return nil, errors.New("there is no " + name)
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, config); err != nil {
			return nil, err
		}
		made["/etc/kubernetes/"+to] = out.String()
	}
	return made, nil
}
