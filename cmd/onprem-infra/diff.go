package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/operator/overview"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/rollout"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// diffLong is the help, with the levels of package drift.
const diffLong = `diff compares the files of a host, this one or one whose disk is at --root, with
what "render" would write there. It changes nothing. For each file that differs it shows how, and
what happens on a running host when the plan's file takes its place:

  nothing      no running process is affected
  later        it counts from the next boot, or from a restart by hand
  reload       a daemon or a monitor takes another configuration; connections and virtual IPs stay
  restart      a pod or a program starts, restarts or ends; the virtual IPs stay
  unknown      the effect is not known
  may-move     a virtual IP moves in a case that is named
  moves        a virtual IP that this host holds moves to another one
  two-holders  for a time a virtual IP has two holders: do not do it this way

That is about the files alone. If the Machine Config Operator writes them, it also drains and
reboots each node.

No secret is shown: passwords, keys and tokens are numbered, and the text of a file that not
everybody may read is left out. The file of hosts that a bootstrap machine provisions is compared
with nothing: only render and ignition know what it has to be. Exit code 0: nothing differs; 1:
something does.`

func diffCommand(std streams) *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "diff --role=ROLE -c FILE [--root DIR]",
		Short: "Print where a host's files differ from the plan, and what fixing them does",
		Long:  diffLong,
		Example: `  onprem-infra diff --role=master -c cluster.yaml --images images.json
  onprem-infra diff --role=worker -c /etc/onprem-infra/cluster.json
  onprem-infra diff --role=master -c cluster.yaml --images images.json --root /mnt -o json |
    jq .worst`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	name := roleFlag(cmd)
	there := liveFlags(cmd)
	passwords := bgpPasswordsFlag(cmd, "the host's must be equal, and without it that one counts")
	cmd.Flags().StringVar(&root, "root", "/", "directory that is the host's /")
	format := formatFlag(cmd, "text or json", "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		kind, err := parseRole(*name)
		if err != nil {
			return err
		}
		described, err := loadCluster(std, in)
		if err != nil {
			return err
		}
		there.inTree(root)
		report, err := compareRoot(described, kind, there, root,
			func(p plan.Plan) ([]byte, error) { return passwords.read(std, in, p, described) })
		if err != nil {
			return err
		}
		if err := printDiff(std, report, *format); err != nil {
			return err
		}
		if len(report.Changes) > 0 {
			return negative(nil)
		}
		return nil
	}
	return cmd
}

// compareRoot compares a host's files with what render would write over them.
func compareRoot(described spec.Cluster, kind role.Role, there *live, root string,
	passwords func(plan.Plan) ([]byte, error)) (overview.Host, error) {
	report := overview.Host{Root: root, Role: kind}
	host, done, err := hostFiles(root)
	if err != nil {
		return report, err
	}
	defer done()
	now := there.nodes()
	if now.unread != nil && !errors.Is(now.unread, fs.ErrPermission) {
		return report, now.unread
	}
	next, err := there.over(described, kind)
	switch refused := (rollout.Incompatible{}); {
	case errors.As(err, &refused):
		next, report.Refused = described, refused.Reason
	case err != nil && now.wrong != nil:
		next, report.Refused = described, err.Error()
	case err != nil && !errors.Is(err, fs.ErrPermission):
		return report, err
	case err != nil:
		next = described // the report names a file that cannot be read
	}
	p, err := compile(next)
	if err != nil {
		return report, err
	}
	o := kept(p, host)
	given, err := passwords(p)
	if err != nil {
		return report, err
	}
	if given != nil {
		o.Passwords = given
	}
	report.Report, err = driftOf(host, p, kind, now.plan, o)
	return report, err
}

// hostFiles are the files of a directory that is a host's /.
func hostFiles(dir string) (files fs.FS, done func(), err error) {
	files, done, err = file.Tree(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = usage("--root: there is no directory %s: name the one that is the host's /", dir)
	}
	return files, done, err
}

// hostDrift is how a host of a role differs from a plan; now is the plan of the cluster.json that
// it has, nil where there is none.
func hostDrift(host fs.FS, p plan.Plan, kind role.Role, now *plan.Plan) (drift.Report, error) {
	return driftOf(host, p, kind, now, kept(p, host))
}

// driftOf is hostDrift for a host that gets these options.
func driftOf(host fs.FS, p plan.Plan, kind role.Role, now *plan.Plan, o bootstrap.Options) (
	drift.Report, error) {
	set, err := hostGoods(p, kind, o)
	if err != nil {
		return drift.Report{}, err
	}
	w := drift.Wanted{Role: kind, Plan: p, Goods: set, There: now}
	roles := role.All()
	if kind == role.Bootstrap {
		roles = []role.Role{kind} // the operator of an OpenShift may have given it static pods
	}
	w.Retired = former(roles, p, now).Retired()
	return drift.Compare(host, w), nil
}

func printDiff(std streams, r overview.Host, format string) error {
	if format == "json" {
		enc := json.NewEncoder(std.out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(r)
	}
	_, err := fmt.Fprint(std.out, coloured(std.out, r.Text(width())))
	return err
}
