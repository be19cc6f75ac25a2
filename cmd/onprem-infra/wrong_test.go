//go:build remote

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestWrong holds that a wrong command line is told what is right.
func TestWrong(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent", "file")
	config := must(t, "", "example", "install-config")
	for args, want := range map[string]string{
		"simulat":                           `has no "simulat": is it simulate that you mean?`,
		"nonsense":                          `has no "nonsense"; there are: bootstrap, check,`,
		"bootstrap run vpi":                 `onprem-infra bootstrap run has no "vpi": is it vip that you mean?`,
		"validate install-config.yaml":      `validate does not take "install-config.yaml": where it is a file, write -c install-config.yaml`,
		"validate -c x install-config.yaml": `validate does not take "install-config.yaml": leave it out`,
		"simulate -c - power-loss reboot":   `simulate does not take "reboot": leave it out`,
		"simulate -c - powerloss":           `there is no scenario "powerloss": is it power-loss that you mean?`,
		"simulate -c - --schedule -":        "-c and --schedule are both standard input, which is read once: name a file",
		"simulate -c - --html -":            "--html - is standard output, which takes the table: name a file",
		"simulate -c - nonsense":            `there is no scenario "nonsense"; there are: power-loss, api-crash,`,
		"hosts foo":                         `hosts does not take "foo": where it is a file, write -c foo`,
		"hosts disks -c x foo":              `hosts disks does not take "foo": leave it out`,
		"diff --role=master -c x foo":       `diff does not take "foo": leave it out`,
		"check":                             "NAME is missing: write onprem-infra check NAME",
		"check lb mcs":                      `check does not take "mcs"`,
		"vr-ids":                            "NAME is missing: write onprem-infra vr-ids NAME",
		"version now":                       `version does not take "now": leave it out`,
		"render --role=master --image x":    "unknown flag: --image: is it --images that you mean?",
		"render --role=master --nonsense x": "unknown flag: --nonsense\n",
		"render -x":                         "unknown shorthand flag: 'x' in -x\n",
		"monitor vip --role=mastr":          "must be one of: master, worker, arbiter",
		"status":                            "this host has no /etc/onprem-infra/cluster.json, so it is not part of a cluster: run the command on a host that is, or name such a file with -c",
		"status -c " + absent:               "there is no file " + absent,
		"report":                            "this host has no journal, ",
		"report " + absent:                  "there is no journal " + absent + ": a host keeps one at /var/lib/onprem-infra/journal.jsonl",
		"monitoring -c - --out /dev/null/x": "not a directory",
		"simulate -c - --phases 1 --schedules 0 power-loss --html " + absent: "write " + absent + ": there is no directory " + filepath.Dir(absent) + ": make it, or name another place",
	} {
		o := invoke(t, config, strings.Fields(args)...)
		if o.code < exitUsage || !strings.Contains(o.err, want) {
			t.Errorf("%s: exit %d\n%swant\n%s", args, o.code, o.err, want)
		}
	}
}
