package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/provisioned"
	"github.com/onprem-infra/onprem-infra/test/racks"
)

// simulated is a command line of the verb for an example cluster.
func simulated(t *testing.T, args ...string) outcome {
	t.Helper()
	return invoke(t, proven(t), append([]string{"simulate", "-c", "-", "--phases", "5", "--schedules", "20"}, args...)...)
}

// proven is an example cluster of which every host was measured, as timing fast needs it.
func proven(t *testing.T) string {
	t.Helper()
	return strings.Replace(must(t, "", "example", "cluster"), "\nspec:\n", "\nspec:\n  timingProof: {a: 900, b: 900, c: 900, d: 900, e: 900, f: 900, g: 900}\n", 1)
}

// TestSimulate holds that all scenarios are played under each profile, that each is said beside the
// bound that the plan has for it, and that the same seed says the same.
func TestSimulate(t *testing.T) {
	for _, profile := range spec.Timings() {
		o := simulated(t, "--timing", profile, "-o", "json")
		if o.code != 0 || o.err != "" {
			t.Fatalf("%s: %+v", profile, o)
		}
		if again := simulated(t, "--timing", profile, "-o", "json"); again != o {
			t.Errorf("%s: two runs differ:\n%s%s", profile, o.out, again.out)
		}
		if other := simulated(t, "--timing", profile, "-o", "json", "--seed", "77"); other.out == o.out {
			t.Errorf("%s: the seed is nothing", profile)
		}
		var names []string
		for line := range strings.Lines(o.out) {
			var r simulate.Row
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if r.Profile != profile || r.Min > r.Median || r.Median > r.Max {
				t.Errorf("%+v", r)
			}
			if names = append(names, r.Scenario); r.Scenario == "power-loss" && (r.Bound == nil || *r.Bound+r.Grain < r.Max || !r.OK || r.Runs != 5) {
				t.Errorf("%+v", r)
			}
		}
		var want []string
		for _, s := range simulate.Scenarios() {
			if s.Kind != vrrp.DNS { // an install-config has no such VIP
				want = append(want, s.Name)
			}
		}
		if want = append(want, "random"); !slices.Equal(names, want) {
			t.Errorf("%s: scenarios %v, want %v", profile, names, want)
		}
	}
}

// TestSimulateAllSizes holds that control planes of every size are simulated whole: each scenario
// ends, and no rule breaks where there are more nodes than ranks.
func TestSimulateAllSizes(t *testing.T) {
	text := proven(t)
	for masters := 3; masters <= 7; masters++ {
		sized := strings.Replace(text, "controlPlaneReplicas: 3", fmt.Sprint("controlPlaneReplicas: ", masters), 1)
		for _, profile := range spec.Timings() {
			o := invoke(t, sized, "simulate", "-c", "-", "--timing", profile, "--phases", "10", "--schedules", "40")
			if o.code != 0 || !strings.Contains(o.out, "\nok: ") {
				t.Errorf("%d control plane nodes, %s: %+v", masters, profile, o)
			}
		}
	}
}

// TestSimulateBounds holds that every bound of the plan is played, so that a number which the
// election cannot keep is found.
func TestSimulateBounds(t *testing.T) {
	c, _ := spec.Parse("cluster", []byte(must(t, "", "example", "install-config")), spec.Knobs{})
	c.DNSVIP = c.APIVIPs[0].Next().Next()
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Timing.Bounds) == 0 {
		t.Error("the plan has no bound")
	}
	for _, b := range p.Timing.Bounds {
		if _, ok := simulate.Find(b.Scenario); !ok {
			t.Errorf("nobody plays %s", b.Scenario)
		}
	}
}

// TestSimulateDNS holds that the scenarios of a DNS VIP are played where the cluster has one,
// beside what the plan says of them.
func TestSimulateDNS(t *testing.T) {
	cluster := strings.ReplaceAll(proven(t), "\n  # dnsVIP:", "\n  dnsVIP:")
	for _, profile := range spec.Timings() {
		simulated := 0
		for _, s := range simulate.Scenarios() {
			if s.Kind != vrrp.DNS {
				continue
			}
			simulated++
			o := invoke(t, cluster, "simulate", "-c", "-", "--timing", profile, "--phases", "10", "-o", "json", s.Name)
			var r simulate.Row
			if err := json.Unmarshal([]byte(o.out), &r); err != nil || o.code != 0 || r.Bound == nil || len(r.Broken) > 0 {
				t.Errorf("%s: %s: %v, %+v", profile, s.Name, err, o)
			}
		}
		if simulated != 4 {
			t.Errorf("%d scenarios are about it", simulated)
		}
	}
}

// TestSimulateLacking holds that a scenario of what the cluster lacks is refused: without a run no rule
// is broken, and all would seem well.
func TestSimulateLacking(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "one.html")
	for _, tt := range []struct {
		cluster, scenario string
		args              []string
	}{
		{proven(t), "dns-power-loss", []string{"--html", picture}},
		{racks.Elected()["leaves apart"].Describe(), "dns-power-loss", nil},
		{racks.Fabrics()["three racks"].Describe(), "bgp-router-loss", nil}, // each rack has one router
	} {
		o := invoke(t, tt.cluster, append([]string{"simulate", "-c", "-", "--phases", "1", tt.scenario}, tt.args...)...)
		if o.code != exitUsage || o.out != "" || !strings.Contains(o.err, "does not have what the scenario "+tt.scenario+" is about") {
			t.Errorf("%+v", o)
		}
	}
	if _, err := os.Stat(picture); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is drawn: %v", err)
	}
}

func TestSimulateText(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "one.html")
	o := simulated(t, "graceful", "--html", picture)
	if o.code != 0 || !strings.HasPrefix(o.out, "scenario") || !strings.Contains(o.out, "graceful") || strings.Contains(o.out, "power-loss") || strings.Contains(o.out, "random") {
		t.Errorf("%+v", o)
	}
	text, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "master-2", "client", "graceful", "end-keepalived"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the picture has no %s", want)
		}
	}
}

// pictured matches the name of a host's lane in a picture, and the begin of a time in which it holds the VIP.
var pictured = regexp.MustCompile(`<text x="0\.0" [^>]*font-weight="600">([^<]+)</text>|<title>holds the VIP holds the VIP: (\S+) to `)

// TestSimulateText_Path holds that the picture of a scenario shows the run of the table's row: the same holders of
// the VIP, one after the other.
func TestSimulateText_Path(t *testing.T) {
	for _, scenario := range []string{"power-loss", "lb-crash", "handover"} {
		picture := filepath.Join(t.TempDir(), "one.html")
		var row struct{ Path string }
		if err := json.Unmarshal([]byte(simulated(t, scenario, "-o", "json", "--html", picture).out), &row); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(picture)
		if err != nil {
			t.Fatal(err)
		}
		// Each lane of the picture begins with its host's name, and holdings have their begin in their title.
		type holding struct {
			since time.Duration
			host  string
		}
		var held []holding
		host := ""
		for _, found := range pictured.FindAllStringSubmatch(string(text), -1) {
			if found[1] != "" {
				host = found[1]
				continue
			}
			since, err := time.ParseDuration(found[2])
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, holding{since, host})
		}
		slices.SortFunc(held, func(a, b holding) int { return cmp.Compare(a.since, b.since) })
		var hosts []string
		for _, h := range held {
			hosts = append(hosts, h.host)
		}
		if got := strings.Join(slices.Compact(hosts), " → "); got != row.Path || got == "" {
			t.Errorf("%s: the picture has %q, and the table %q", scenario, got, row.Path)
		}
	}
}

func TestSimulateSchedule(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("cluster", must(t, "", "example", "install-config"))
	for _, tt := range []struct {
		name, text string
		code       int
		want       string // of either output
	}{
		{"the power", "seed 5\nlength 20s\n5s power-off holder\n", 0, "no holder"},
		{"an installation", "seed 5\nlength 20s\n1s join master-0\n2s join master-1\n10s end-api bootstrap\n", 0, "bootstrap"},
		{"no length", "seed 5\n", 1, "length 20s"},
		{"a host that is not there", "length 20s\n1s cut master-9\n", 1, "there is no host master-9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(strings.ReplaceAll(tt.name, " ", "-"), tt.text)
			o := invoke(t, "", "simulate", "-c", config, "--schedule", path, "--html", filepath.Join(dir, "picture"))
			if o.code != tt.code || !strings.Contains(o.out+o.err, tt.want) {
				t.Errorf("%+v, want exit %d and %q", o, tt.code, tt.want)
			}
		})
	}
}

func TestSimulateUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"power-los"}, `there is no scenario "power-los": is it power-loss that you mean?`},
		{[]string{"-o", "yaml"}, `-o "yaml" is not one of: text, json`},
		{[]string{"--phases", "0"}, "--phases is 1 or more"},
		{[]string{"--schedules", "-1"}, "--schedules 0 or more"},
		{[]string{"power-loss", "--schedule", "x"}, "--schedule runs alone"},
	} {
		o := invoke(t, "", append([]string{"simulate", "-c", "-"}, tt.args...)...)
		if o.code != exitUsage || !strings.Contains(o.err, tt.want) {
			t.Errorf("%v: %+v, want %q", tt.args, o, tt.want)
		}
	}
}

// TestSimulateFails holds that a broken rule is printed, and ends the verb with exit code 1.
func TestSimulateFails(t *testing.T) {
	for _, row := range []simulate.Row{{Scenario: "reboot", OK: true}, {Scenario: "reboot", Broken: []string{"a rule"}}} {
		var out, errs strings.Builder
		rows := []simulate.Row{row}
		err := printRows(streams{out: &out, err: &errs}, "text", rowsOf(rows), simulate.Table(100, rows), simulate.Failures(rows))
		if (err == nil) != row.OK || strings.Contains(errs.String(), "reboot: a rule") == row.OK {
			t.Errorf("%+v: %v, %s%s", row, err, out.String(), errs.String())
		}
	}
}

// TestSimulateProvisioning holds that the scenarios of installations run on both kinds of clusters,
// that equal seeds give equal output, and that one schedule runs alone.
func TestSimulateProvisioning(t *testing.T) {
	for sharing := range provisioned.Sharings() {
		run := func(args ...string) outcome {
			return invoke(t, provisioned.Describe(sharing), append([]string{"simulate", "--provisioning", "-c", "-", "--phases", "2", "--schedules", "20"}, args...)...)
		}
		o := run("-o", "json")
		if again := run("-o", "json"); o.code != 0 || o.err != "" || again != o {
			t.Fatalf("%s: %+v\n%+v", sharing, o, again)
		}
		if other := run("-o", "json", "--seed", "77"); other.out == o.out {
			t.Errorf("%s: the seed is nothing", sharing)
		}
		var names []string
		for line := range strings.Lines(o.out) {
			var r provisioning.Row
			if err := json.Unmarshal([]byte(line), &r); err != nil || !r.OK || r.Max <= 0 || !r.Simulated {
				t.Errorf("%s: %v: %s", sharing, err, line)
			}
			names = append(names, r.Scenario)
		}
		if want := append(scenarioNames(ofInstallations), "random"); !slices.Equal(names, want) {
			t.Errorf("%s: scenarios %v, want %v", sharing, names, want)
		}
		if o := run("ironic-moves"); o.code != 0 || !strings.HasPrefix(o.out, "scenario") || !strings.Contains(o.out, "\nok: 2 runs, no rule broken\n") || strings.Contains(o.out, "foreign-dhcp") {
			t.Errorf("%s: %+v", sharing, o)
		}
	}
	config := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(config, []byte(provisioned.Describe("one")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		code int
		want string
	}{
		{"seed 5\ndeploy+1m power-off bootstrap for 1m\n", 0, "all hosts have joined after"},
		{"1s power-off master-9 for 1m\n", 1, "power-off is not for master-9, but for bootstrap, holder, master-0"},
	} {
		o := invoke(t, tt.text, "simulate", "--provisioning", "-c", config, "--schedule", "-")
		if o.code != tt.code || !strings.Contains(o.out+o.err, tt.want) {
			t.Errorf("%+v, want exit %d and %q", o, tt.code, tt.want)
		}
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"power-loss"}, `there is no scenario "power-loss"`},
		{[]string{"ironic-move"}, "is it ironic-moves that you mean?"},
		{[]string{"--html", "x.html"}, "leave it out beside --provisioning"},
	} {
		o := invoke(t, "", append([]string{"simulate", "--provisioning", "-c", "-"}, tt.args...)...)
		if o.code != exitUsage || !strings.Contains(o.err, tt.want) {
			t.Errorf("%v: %+v, want %q", tt.args, o, tt.want)
		}
	}
	o := invoke(t, must(t, "", "example", "cluster"), "simulate", "--provisioning", "-c", "-")
	if o.code != 1 || !strings.Contains(o.err, "there is nothing to simulate") {
		t.Errorf("%+v", o)
	}
}

// TestSimulateRouted holds that the scenarios of clusters that announce their VIPs run, that equal seeds
// give equal output, that a broken bound or rule ends with exit code 1, and that one schedule runs
// alone.
func TestSimulateRouted(t *testing.T) {
	cluster := racks.Fabrics()["two racks"].Describe()
	run := func(args ...string) outcome {
		return invoke(t, cluster, append([]string{"simulate", "-c", "-", "--phases", "2", "--schedules", "20"}, args...)...)
	}
	o := run("-o", "json")
	if again := run("-o", "json"); again != o {
		t.Fatalf("%+v\n%+v", o, again)
	}
	if other := run("-o", "json", "--seed", "77"); other.out == o.out {
		t.Error("the seed is nothing")
	}
	var names []string
	broken := 0
	for line := range strings.Lines(o.out) {
		var r routed.Row
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Profile != bgp.ProfileLan || !r.Simulated || r.OK != (len(r.Broken) == 0) {
			t.Errorf("%v: %s", err, line)
		}
		if !r.OK {
			broken++
		}
		names = append(names, r.Scenario)
	}
	if want := append(scenarioNames(ofRouters), "random"); !slices.Equal(names, want) {
		t.Errorf("scenarios %v, want %v", names, want)
	}
	if (o.code == 1) != (broken > 0) || (o.err == "") != (broken == 0) {
		t.Errorf("%d are broken: %+v", broken, o)
	}
	if o := run("bgp-power-loss"); o.code != 0 || !strings.HasPrefix(o.out, "scenario") || !strings.Contains(o.out, "\nok: 1 of 1 within their bounds, no rule broken\n") {
		t.Errorf("%+v", o)
	}
	config := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(config, []byte(cluster), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		code int
		want string
	}{
		{"length 20s\n5s power-off master-0\n", 0, "clients"},
		{"length 20s\n5s power-off master-9\n", 1, "power-off is not for master-9, but for master-0"},
	} {
		o := invoke(t, tt.text, "simulate", "-c", config, "--schedule", "-")
		if o.code != tt.code || !strings.Contains(o.out+o.err, tt.want) {
			t.Errorf("%+v, want exit %d and %q", o, tt.code, tt.want)
		}
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"power-loss"}, `come to hosts by bgp, which has no scenario "power-loss"`},
		{[]string{"bgp-power-los"}, "is it bgp-power-loss that you mean?"},
		{[]string{"--html", filepath.Join(t.TempDir(), "x.html")}, "this cluster has none: leave it out"},
	} {
		if o := run(tt.args...); o.code != exitUsage || !strings.Contains(o.err, tt.want) {
			t.Errorf("%v: %+v, want %q", tt.args, o, tt.want)
		}
	}
	if o := simulated(t, "bgp-power-loss"); o.code != exitUsage || !strings.Contains(o.err, "come to hosts by vrrp") {
		t.Errorf("%+v", o)
	}
}

// TestSimulateBoth holds that both sides of a cluster with both are simulated: a row for the clients of
// each, one for random schedules, equal output for equal seeds, one schedule alone, and a picture with
// what hosts announced.
func TestSimulateBoth(t *testing.T) {
	cluster := racks.Elected()["leaves apart"].Describe()
	run := func(args ...string) outcome {
		return invoke(t, cluster, append([]string{"simulate", "-c", "-", "--phases", "2", "--schedules", "20"}, args...)...)
	}
	o := run("-o", "json")
	if again := run("-o", "json"); again != o || o.code != 0 || o.err != "" {
		t.Fatalf("%+v\n%+v", o, again)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(o.out) {
		var r struct {
			Scenario, Clients string
			OK, Simulated     bool
			BoundMs           *int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || !r.OK || !r.Simulated || r.Scenario == "power-loss" && (r.BoundMs == nil || *r.BoundMs <= 0) {
			t.Errorf("%v: %s", err, line)
		}
		rows[r.Scenario] = append(rows[r.Scenario], r.Clients)
	}
	for _, name := range scenarioNames(ofBoth) {
		if has := !strings.Contains(name, "dns") && name != "name-server-crash"; has != slices.Equal(rows[name], []string{"link", "routers"}) {
			t.Errorf("%s: %v", name, rows[name])
		}
	}
	if !slices.Equal(rows["random"], []string{"both"}) {
		t.Errorf("random: %v", rows["random"])
	}
	dir := t.TempDir()
	config, picture := filepath.Join(dir, "cluster.yaml"), filepath.Join(dir, "p.html")
	if err := os.WriteFile(config, []byte(cluster), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		text string
		code int
		want string
	}{
		{"length 20s\n5s power-off holder\n", 0, "clients"},
		{"length 20s\n5s migrate vrrp\n", 0, "API VIP idle"},
		{"length 20s\n5s kill-bgpd leaf-0-0\n", 1, "kill-bgpd is not for leaf-0-0, but for master-0"},
		{"length 20s\n5s part master-0\n", 1, `there is no fault "part"`},
	} {
		o := invoke(t, tt.text, "simulate", "-c", config, "--schedule", "-", "--html", picture)
		if o.code != tt.code || !strings.Contains(o.out+o.err, tt.want) {
			t.Errorf("%+v, want exit %d and %q", o, tt.code, tt.want)
		}
	}
	if o := run("power-loss", "--html", picture, "--force"); o.code != 0 || !strings.Contains(o.out, "Clients on the link of the hosts:\n\nscenario") || !strings.Contains(o.out, "\nClients behind routers:\n\nscenario") {
		t.Errorf("%+v", o)
	}
	drawn, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"to routers", "announces the VIP", "announces it behind all others", "behind routers", "some fail"} {
		if !strings.Contains(string(drawn), want) {
			t.Errorf("the picture has no %q", want)
		}
	}
	if o := run("member-change"); o.code != exitUsage || !strings.Contains(o.err, "come to hosts by both, which has no scenario") {
		t.Errorf("%+v", o)
	}
	if o := simulated(t, "vrrp-to-both"); o.code != exitUsage || !strings.Contains(o.err, "come to hosts by vrrp") {
		t.Errorf("%+v", o)
	}
}
