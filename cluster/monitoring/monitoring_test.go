package monitoring

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

func compiled(t *testing.T, change func(*spec.Cluster)) plan.Plan {
	t.Helper()
	c := spec.Cluster{
		Name: "one", BaseDomain: "example.com", Platform: spec.BareMetal, Timing: "lan",
		Metrics: spec.MetricsNode, MDNS: spec.MDNSEnabled,
		APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")},
		IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	}
	if change != nil {
		change(&c)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func files(t *testing.T, p plan.Plan) map[string][]byte {
	t.Helper()
	set, err := Assets(p)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, f := range set.Files() {
		out[f.Path] = f.Contents
	}
	return out
}

func TestAssets(t *testing.T) {
	all := files(t, compiled(t, nil))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		t.Run(strings.TrimPrefix(path, "/"), func(t *testing.T) { golden.Check(t, all[path]) })
	}
}

// TestRules_ProvisioningAddress holds that an address which no node has without Ironic is no VIP
// without a holder: it has an alert of its own, that may wait.
func TestRules_ProvisioningAddress(t *testing.T) {
	address, _ := bmc.Parse("ipmi://198.51.100.1") // it is one
	shared := func(c *spec.Cluster) {
		c.Distribution, c.Provisioning.Network = spec.Kubernetes, provisioning.Managed
		c.Hosts = []spec.Host{{Name: "m0", BootMACAddress: "52:54:00:00:00:01", BMC: machine.BMC{Address: address, Credentials: "/etc/bmc"}}}
	}
	for name, change := range map[string]func(*spec.Cluster){"shared": shared, "none": nil} {
		exprs := map[string]string{}
		for _, r := range rules(compiled(t, change)) {
			exprs[r.Alert] = r.Expr
		}
		own, ok := exprs["OnpremProvisioningWithoutHolder"]
		if ok != (name == "shared") || ok && !strings.Contains(own, `172\\.22\\.0\\.3`) {
			t.Errorf("%s: its own alert %t: %s", name, ok, own)
		}
		for _, alert := range []string{"OnpremVIPWithoutHolder", "OnpremVIPGap"} {
			if strings.Contains(exprs[alert], "172") || !strings.Contains(exprs[alert], "192") {
				t.Errorf("%s: %s is %s", name, alert, exprs[alert])
			}
		}
		if strings.Contains(exprs["OnpremVIPTwoHolders"], "172") != ok {
			t.Errorf("%s: %s", name, exprs["OnpremVIPTwoHolders"])
		}
	}
}

// TestMonitors_DHCP holds that the monitor of a node's DHCP server is scraped where nodes have one,
// and that the bootstrap machine's, at the same port, is no target of theirs.
func TestMonitors_DHCP(t *testing.T) {
	address, _ := bmc.Parse("ipmi://198.51.100.1") // it is one
	for name, image := range map[string]string{"with the image": "r/ironic:1", "without": ""} {
		p := compiled(t, func(c *spec.Cluster) {
			c.Distribution, c.Provisioning.Network = spec.Kubernetes, provisioning.Managed
			c.Hosts = []spec.Host{{Name: "m0", BootMACAddress: "52:54:00:00:00:01", BMC: machine.BMC{Address: address, Credentials: "/etc/bmc"}}}
			c.Images = map[string]string{}
			if image != "" {
				c.Images[spec.IronicImage] = image
			}
		})
		scraped := slices.ContainsFunc(monitors(p), func(m monitor) bool { return m.container == "dnsmasq-monitor" && m.port == p.Ports[port.MonitorDHCP] })
		if scraped != (image != "") {
			t.Errorf("%s: scraped %t", name, scraped)
		}
	}
}

// TestRouted holds that rules, panels and targets about routers are of clusters alone whose hosts
// announce VIPs, and that such a cluster without elections has no rule about them.
func TestRouted(t *testing.T) {
	announces := func(c *spec.Cluster) {
		c.Timing, c.MDNS = "", ""
		c.APIVIPs, c.IngressVIPs = []netip.Addr{netip.MustParseAddr("198.51.100.5")}, []netip.Addr{netip.MustParseAddr("198.51.100.6")}
		c.MachineNetworks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		c.Routing = spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{{Network: c.MachineNetworks[0]}}}}
	}
	for name, change := range map[string]func(*spec.Cluster){"announced": announces, "elected": nil} {
		p := compiled(t, change)
		rules, panels, targets := string(files(t, p)[RulesFile]), string(files(t, p)[DashboardFile]), string(files(t, p)[ScrapeFile])
		for what, has := range map[string]bool{"a rule": strings.Contains(rules, "onprem_bgp_session_up"), "a panel": strings.Contains(panels, "onprem_bgp_session_up"),
			"its monitor": strings.Contains(targets, "regex: speaker-monitor\n")} {
			if has != (name == "announced") {
				t.Errorf("%s: %s: %t", name, what, has)
			}
		}
		if strings.Contains(targets, "regex: speaker\n") || strings.Contains(targets, ":9466") {
			t.Errorf("%s: a target that answers on the loopback alone", name)
		}
		if got := strings.Contains(rules, "onprem_vip_holder"); got != (name == "elected") {
			t.Errorf("%s: rules about holders: %t", name, got)
		}
		if name == "announced" && (!strings.Contains(rules, `absent(onprem_bgp_wanted{vip="198.51.100.5"})`) || !strings.Contains(rules, "onprem_lb_backend_up")) {
			t.Errorf("%s:\n%s", name, rules)
		}
	}
}

// TestWhere holds which files there are: nobody is told to ask where nobody answers, and objects of
// Prometheus's operator are for clusters that have it.
func TestWhere(t *testing.T) {
	always := []string{DashboardFile, RulesFile}
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		want   []string
	}{
		{"OpenShift, at the nodes", nil, append(
			[]string{ScrapeFile, RuleObject, MonitorObject}, always...,
		)},
		{"OpenShift, at the loopback", func(c *spec.Cluster) {
			c.Metrics = ""
		}, append([]string{RuleObject}, always...)},
		{"another Kubernetes, at the nodes", func(c *spec.Cluster) {
			c.Platform = spec.None
		}, append([]string{ScrapeFile}, always...)},
		{"another Kubernetes, at the loopback", func(c *spec.Cluster) {
			c.Platform, c.Metrics = spec.None, spec.MetricsLocalhost
		}, always},
	} {
		got := slices.Sorted(maps.Keys(files(t, compiled(t, tt.change))))
		if slices.Sort(tt.want); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestWithoutVIPs holds that nothing is expected of VIPs that are not ours to hold.
func TestWithoutVIPs(t *testing.T) {
	text := string(files(t, compiled(t, func(c *spec.Cluster) {
		c.LoadBalancer = spec.UserManaged
	}))[RulesFile])
	for _, not := range []string{"onprem_vip_", "onprem_lb_"} {
		if strings.Contains(text, not) {
			t.Errorf("behind a balancer of the user's own rules ask for %s…", not)
		}
	}
	if !strings.Contains(text, "onprem_dns_running") {
		t.Error("and not for CoreDNS")
	}
}

// TestObject holds that the object's rules are the file's, and that VIPs of other clusters are
// nobody's business here.
func TestObject(t *testing.T) {
	all := files(t, compiled(t, nil))
	var plain, inside struct {
		Groups []any
		Spec   struct{ Groups []any }
	}
	if err := yaml.Unmarshal(all[RulesFile], &plain); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(all[RuleObject], &inside); err != nil {
		t.Fatal(err)
	}
	if len(plain.Groups) != 1 || !reflect.DeepEqual(plain.Groups, inside.Spec.Groups) {
		t.Errorf("the object has other rules than the file")
	}
	for _, r := range rules(compiled(t, nil)) {
		if strings.Contains(r.Expr, "onprem_vip_") && !strings.Contains(r.Expr, "gate_open") && !strings.Contains(r.Expr, `192\\.0\\.2\\.5|2001:db8::5|192\\.0\\.2\\.6`) && r.Alert != "OnpremVIPUnwatched" {
			t.Errorf("%s looks at every cluster's VIPs: %s", r.Alert, r.Expr)
		}
	}
}

// TestThresholds holds that what is late depends on the cluster's timing.
func TestThresholds(t *testing.T) {
	expr := func(timing, alert string) string {
		for _, r := range rules(compiled(t, func(c *spec.Cluster) { c.Timing = timing })) {
			if r.Alert == alert {
				return r.Expr[strings.LastIndex(r.Expr, " ")+1:]
			}
		}
		return ""
	}
	for _, tt := range []struct{ timing, alert, want string }{
		{"lan", "OnpremAdvertsLate", "0.2"}, {"compat", "OnpremAdvertsLate", "2"},
		{"lan", "OnpremVIPGap", "0.684"}, {"compat", "OnpremVIPGap", "7.494"},
	} {
		if got := expr(tt.timing, tt.alert); got != tt.want {
			t.Errorf("%s with %s: above %s, want %s", tt.alert, tt.timing, got, tt.want)
		}
	}
}

// named are the metrics that an expression names.
func named(expr string) []string {
	expr = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expr, "")
	return regexp.MustCompile(`\b(?:onprem|process|up|go|node)_[a-z_]+\b`).FindAllString(expr, -1)
}

// TestRules_NameOurMetrics holds that rules and dashboard name our metrics and no others, by labels that
// they have, and that every metric is of use.
func TestRules_NameOurMetrics(t *testing.T) {
	p := compiled(t, nil)
	p.Provisioning = &provision.Plan{}
	p.Ports = port.Numbers(nil) // with those of Ironic
	p.BGP, p.Fallback = &routed.Plan{}, &plan.Plan{}
	known, used := map[string]metrics.Family{}, map[string]bool{}
	for _, f := range metrics.All() {
		known[f.Name] = f
	}
	var exprs []string
	for _, r := range rules(p) {
		exprs = append(exprs, r.Expr)
	}
	for _, r := range rows() {
		for _, g := range r.Panels {
			exprs = append(exprs, g.Expr)
		}
	}
	for _, expr := range exprs {
		names := named(expr)
		if len(names) == 0 {
			t.Errorf("%s names no metric", expr)
		}
		for _, name := range names {
			f, ok := known[name]
			if used[name] = true; !ok {
				t.Errorf("%s: nobody says %s", expr, name)
				continue
			}
			for _, selector := range regexp.MustCompile(regexp.QuoteMeta(name)+`\{([^}]*)\}`).
				FindAllStringSubmatch(expr, -1) {
				for _, label := range regexp.MustCompile(`([a-z]+)=`).FindAllStringSubmatch(
					regexp.MustCompile(`"[^"]*"`).ReplaceAllString(selector[1], ""), -1,
				) {
					if !slices.Contains(f.Labels, label[1]) {
						t.Errorf("%s: %s has no label %s", expr, name, label[1])
					}
				}
			}
		}
	}
	for name := range known {
		if !used[name] && !strings.HasPrefix(name, "onprem_bgp_") && !slices.Contains( // on the loopback alone
			[]string{
				"onprem_cluster_info", "onprem_rounds_total", "onprem_dns_source",
				"onprem_dns_reloads_total", "onprem_vip_gaps_total", "process_start_time_seconds",
			},
			name,
		) {
			t.Errorf("%s is in no rule and in no panel: it costs and serves nobody", name)
		}
	}
}

// TestAlerts_NameTheRemedy holds that an alarm can be acted upon.
func TestAlerts_NameTheRemedy(t *testing.T) {
	seen := map[string]bool{}
	p := compiled(t, nil)
	p.Provisioning = &provision.Plan{}
	p.Ports = port.Numbers(nil) // with those of Ironic
	p.BGP = &routed.Plan{}
	for _, r := range rules(p) {
		if !regexp.MustCompile(`^Onprem[A-Z][A-Za-z]+$`).MatchString(r.Alert) || seen[r.Alert] &&
			r.Alert != "OnpremVIPUnwatched" {
			t.Errorf("%q is no name, or there twice", r.Alert)
		}
		seen[r.Alert] = true
		if len(r.Annotations["summary"]) < 20 || len(r.Annotations["description"]) < 20 ||
			!slices.Contains([]string{"critical", "warning"}, r.Labels["severity"]) {
			t.Errorf("%s: %v, %v", r.Alert, r.Labels, r.Annotations)
		}
	}
}

// grafana is as much of Grafana's classic dashboard model (schemaVersion 36) as is checked here, by
// hand, after its published description: fields by their names and kinds, and those that must be
// there. It is no schema of Grafana's own.
var grafana = struct {
	root, panel, gridPos, target, variable map[string]reflect.Kind
}{
	root: map[string]reflect.Kind{"annotations": reflect.Map, "description": reflect.String, "editable": reflect.Bool, "graphTooltip": reflect.Float64, "links": reflect.Slice,
		"panels": reflect.Slice, "refresh": reflect.String, "schemaVersion": reflect.Float64,
		"tags": reflect.Slice, "templating": reflect.Map, "time": reflect.Map,
		"timezone": reflect.String, "title": reflect.String, "uid": reflect.String},
	panel: map[string]reflect.Kind{"id": reflect.Float64, "type": reflect.String, "title": reflect.String, "description": reflect.String, "collapsed": reflect.Bool,
		"panels": reflect.Slice, "datasource": reflect.Map, "gridPos": reflect.Map, "fieldConfig": reflect.Map, "targets": reflect.Slice},
	gridPos: map[string]reflect.Kind{
		"h": reflect.Float64, "w": reflect.Float64, "x": reflect.Float64, "y": reflect.Float64,
	},
	target: map[string]reflect.Kind{
		"refId": reflect.String, "expr": reflect.String, "legendFormat": reflect.String,
		"datasource": reflect.Map, "instant": reflect.Bool,
	},
	variable: map[string]reflect.Kind{"name": reflect.String, "label": reflect.String, "type": reflect.String, "query": reflect.String, "datasource": reflect.Map,
		"includeAll": reflect.Bool, "multi": reflect.Bool, "refresh": reflect.Float64, "hide": reflect.Float64},
}

// is checks an object's fields.
func is(t *testing.T, where string, o map[string]any, kinds map[string]reflect.Kind) {
	t.Helper()
	for name, value := range o {
		if kind, ok := kinds[name]; !ok || value == nil || reflect.TypeOf(value).Kind() != kind {
			t.Errorf("%s.%s is %v, which Grafana's model does not have", where, name, value)
		}
	}
}

// TestDashboardStructure holds that the dashboard is of the form that Grafana imports, and that no
// panel lies upon another.
func TestDashboardStructure(t *testing.T) {
	p := compiled(t, func(c *spec.Cluster) { c.Name = strings.Repeat("long", 15) })
	var root map[string]any
	d := json.NewDecoder(bytes.NewReader(files(t, p)[DashboardFile]))
	if err := d.Decode(&root); err != nil {
		t.Fatal(err)
	}
	is(t, "dashboard", root, grafana.root)
	if uid := root["uid"].(string); len(uid) > 40 ||
		!regexp.MustCompile(`^[a-zA-Z0-9_-]+$`).MatchString(uid) {
		t.Errorf("uid %q", uid)
	}
	for _, v := range root["templating"].(map[string]any)["list"].([]any) {
		is(t, "variable", v.(map[string]any), grafana.variable)
	}
	ids, taken := map[float64]bool{}, map[[2]int]string{}
	for _, each := range root["panels"].([]any) {
		o := each.(map[string]any)
		title := o["title"].(string)
		is(t, title, o, grafana.panel)
		if id := o["id"].(float64); ids[id] {
			t.Errorf("%s: id %v is another's", title, id)
		} else {
			ids[id] = true
		}
		if !slices.Contains(
			[]string{"row", "stat", "timeseries", "state-timeline"}, o["type"].(string),
		) {
			t.Errorf("%s: there is no panel of type %v", title, o["type"])
		}
		at := o["gridPos"].(map[string]any)
		is(t, title, at, grafana.gridPos)
		x, y, w, h := int(at["x"].(float64)), int(at["y"].(float64)), int(at["w"].(float64)), int(
			at["h"].(float64),
		)
		if w < 1 || h < 1 || x < 0 || x+w > 24 {
			t.Errorf("%s: at %v", title, at)
		}
		for i := range w {
			for j := range h {
				if other, there := taken[[2]int{x + i, y + j}]; there {
					t.Fatalf("%s lies upon %s", title, other)
				}
				taken[[2]int{x + i, y + j}] = title
			}
		}
		targets, _ := o["targets"].([]any)
		if (o["type"] == "row") != (len(targets) == 0) {
			t.Errorf("%s has %d targets", title, len(targets))
		}
		for _, each := range targets {
			is(t, title, each.(map[string]any), grafana.target)
		}
	}
}

// TestIronic holds that rules and panels about Ironic are of clusters alone whose balancers serve
// it.
func TestIronic(t *testing.T) {
	p := compiled(t, nil)
	has := func() (rule, panel bool) {
		for _, r := range rules(p) {
			rule = rule || strings.Contains(r.Expr, "onprem_lb_ironic")
		}
		return rule, bytes.Contains(dashboard(p), []byte("onprem_lb_ironic"))
	}
	if rule, panel := has(); rule || panel {
		t.Errorf("without Ironic: rules %t, panels %t", rule, panel)
	}
	p.Ports = port.Numbers(nil)
	if rule, panel := has(); !rule || !panel {
		t.Errorf("with Ironic: rules %t, panels %t", rule, panel)
	}
}
