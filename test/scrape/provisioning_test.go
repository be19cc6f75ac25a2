package scrape_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/cluster/monitoring"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/scrape"
)

// installationRules writes the rules of the installation of hosts alone: the others watch nodes.
func installationRules(t *testing.T) (path string, alerts []string) {
	t.Helper()
	set, err := monitoring.Assets(plan.Plan{Provisioning: &provision.Plan{}})
	if err != nil {
		t.Fatal(err)
	}
	type rule map[string]any
	var file struct {
		Groups []struct {
			Name  string `yaml:"name"`
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	for _, f := range set.Files() {
		if f.Path != monitoring.RulesFile {
			continue
		}
		if err := yaml.Unmarshal(f.Contents, &file); err != nil {
			t.Fatal(err)
		}
	}
	for i, g := range file.Groups {
		file.Groups[i].Rules = slices.DeleteFunc(g.Rules, func(r rule) bool {
			name, _ := r["alert"].(string)
			if strings.HasPrefix(name, "OnpremProvisioning") {
				alerts = append(alerts, name)
				return false
			}
			return true
		})
	}
	text, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), monitoring.RulesFile)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path, alerts
}

// TestInstallationAlerts holds which alerts fire on what a bootstrap machine reports of an
// installation, that none fires while it goes on as it should, and that each fires in some fault.
func TestInstallationAlerts(t *testing.T) {
	path, alerts := installationRules(t)
	var phases, steps []string
	for _, p := range progress.AllPhases() {
		phases = append(phases, string(p))
	}
	for _, s := range progress.Steps() {
		steps = append(steps, string(s))
	}
	// good is an installation of a quarter of an hour, in which one boot is repeated.
	good := func(minute int) metrics.Provisioning {
		v := metrics.Provisioning{Phases: phases, Steps: steps, Phase: "deploy", Age: time.Duration(minute) * time.Minute, DHCP: true,
			Hosts: []metrics.InstalledHost{{Name: "master-0", Step: "deploying", Wait: time.Duration(minute) * time.Minute}}}
		if minute > 10 {
			v.Hosts[0].Retries = 1
		}
		if minute > 15 {
			v.Phase, v.Age, v.DHCP = "ended", v.Age-15*time.Minute, false
			v.Hosts[0].Step, v.Hosts[0].Wait = "joined", -1
		}
		return v
	}
	fired := map[string]bool{}
	for _, tt := range []struct {
		name   string
		change func(minute int, v *metrics.Provisioning)
		want   []string // at any of its minutes
	}{
		{"all goes as it should", func(int, *metrics.Provisioning) {}, nil},
		{"a host is blocked", func(_ int, v *metrics.Provisioning) { v.Blockers = 1 }, []string{"OnpremProvisioningBlocked"}},
		{"another server answers once", func(minute int, v *metrics.Provisioning) {
			if minute == 5 {
				v.Foreign = 1
			}
		}, []string{"OnpremProvisioningForeignServer"}},
		{"a ramdisk does not call back", func(minute int, v *metrics.Provisioning) {
			*v = good(0)
			v.Hosts[0].Wait = time.Duration(minute) * time.Minute
		},
			[]string{"OnpremProvisioningHostWaits"}},
		{"a step fails again and again", func(minute int, v *metrics.Provisioning) { v.Hosts[0].Retries = minute / 4 }, []string{"OnpremProvisioningRetries"}},
		{"a phase does not end", func(minute int, v *metrics.Provisioning) {
			*v = good(0)
			v.Age = time.Duration(minute) * time.Minute
		}, []string{"OnpremProvisioningLong"}},
		{"DHCP stays on", func(_ int, v *metrics.Provisioning) { v.DHCP = true }, []string{"OnpremProvisioningDHCPAfterEnd"}},
		{"DHCP stays on in the handover", func(minute int, v *metrics.Provisioning) {
			if v.DHCP = true; minute > 15 {
				v.Phase, v.Age = "takeover", 0
			}
		}, []string{"OnpremProvisioningDHCPAfterEnd"}},
		{"it is taken back", func(minute int, v *metrics.Provisioning) {
			if minute > 15 {
				v.Phase, v.Age, v.DHCP = "take back", 0, false
			}
			if minute > 20 {
				v.Phase, v.DHCP = "deploy", true
			}
		}, nil},
		{"it ends without a host", func(_ int, v *metrics.Provisioning) { v.Hosts[0].Step = "joining" }, []string{"OnpremProvisioningEndedWithout"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const minutes = 90
			var recording scrape.Recording
			for minute := range minutes {
				v, page := good(minute), new(metrics.Page)
				tt.change(minute, &v)
				v.Onto(page)
				if err := recording.Page("bootstrap", page.Text()); err != nil {
					t.Fatal(err)
				}
				recording.Step()
			}
			// An alert that fires at times only is asked for at the time at which it does.
			at := map[string]time.Duration{"OnpremProvisioningForeignServer": 5 * time.Minute, "OnpremProvisioningRetries": 60 * time.Minute}
			for _, alert := range tt.want {
				fired[alert] = true
			}
			moments := []scrape.Moment{{At: 80 * time.Minute, Alarms: tt.want}}
			if len(tt.want) > 0 && at[tt.want[0]] != 0 {
				moments = []scrape.Moment{{At: at[tt.want[0]], Alarms: tt.want}}
			} else if tt.want == nil {
				moments = append(moments, scrape.Moment{At: 12 * time.Minute}, scrape.Moment{At: 16 * time.Minute})
			}
			if err := recording.Sounds(t, path, time.Minute, moments...); err != nil {
				t.Error(err)
			}
		})
	}
	for _, alert := range alerts {
		if !fired[alert] {
			t.Errorf("%s fires in no fault", alert)
		}
	}
	if len(alerts) < 7 {
		t.Errorf("the rules are %q", alerts)
	}
}
