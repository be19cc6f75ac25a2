package doctor

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/timingproof"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// maxOffset is how far a clock may be off. Certificates and leases tolerate more. A synchronised
// clock is off by milliseconds, but some servers report whole seconds only.
const maxOffset = 5 * time.Second

// clocks compares this host's clock with those of time servers, or if none answers with those of
// other hosts. Of several the median counts. An even number has two: the one that is nearer to this
// host's clock counts, so that one wrong server of two does not blame this host.
func clocks(f facts.Facts) (out facts.Faults) {
	all := slices.Clone(f.Machine.Clocks)
	if slices.ContainsFunc(all, func(c facts.Clock) bool { return c.Server }) {
		all = slices.DeleteFunc(all, func(c facts.Clock) bool { return !c.Server })
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b facts.Clock) int { return int(a.Ahead - b.Ahead) })
	middle := all[(len(all)-1)/2 : len(all)/2+1]
	if median := slices.MinFunc(middle, nearer); median.Ahead.Abs() > maxOffset {
		out.Add("this host's clock",
			fmt.Sprintf("it is %s by that of %s", offset(-median.Ahead), median.Host),
			"set it right, and run chrony or systemd-timesyncd on all hosts: with a wrong clock "+
				"certificates are refused")
		return out
	}
	for _, c := range f.Machine.Clocks {
		if c.Ahead.Abs() > maxOffset {
			out.Add("the clock of "+c.Host, "it is "+offset(c.Ahead)+
				" by that of this host, and others agree with this host's",
				"set it right on that host")
		}
	}
	return out
}

// nearer compares how far two clocks are from this host's.
func nearer(a, b facts.Clock) int { return cmp.Compare(a.Ahead.Abs(), b.Ahead.Abs()) }

func offset(ahead time.Duration) string {
	if ahead < 0 {
		return fmt.Sprintf("%v behind", (-ahead).Round(time.Second))
	}
	return fmt.Sprintf("%v ahead", ahead.Round(time.Second))
}

// clockSync reports before the cluster exists. Later the clock itself is compared. Virtual machines
// that follow their host's clock have no synchronisation of their own.
func clockSync(f facts.Facts) (out facts.Faults) {
	inStep := func(c facts.Clock) bool { return c.Server && c.Ahead.Abs() <= maxOffset }
	if !f.Live && f.Machine.Unsynced != "" && !slices.ContainsFunc(f.Machine.Clocks, inStep) {
		out.Add("what keeps this host's clock right", "nothing does: "+f.Machine.Unsynced,
			"run chrony or systemd-timesyncd, with a time server that answers")
	}
	return out
}

// kernel checks that the kernel has pidfds and one packet filter table for both families (5.3).
func kernel(f facts.Facts) (out facts.Faults) {
	var major, minor int
	n, _ := fmt.Sscanf(f.Machine.Kernel, "%d.%d", &major, &minor)
	if n == 2 && slices.Compare([]int{major, minor}, []int{5, 3}) < 0 {
		out.Add("the kernel", "it is "+f.Machine.Kernel,
			"install 5.3 or later: older ones have no pidfds, or another packet filter")
	}
	return out
}

// timing reports hosts that are later than the proof of their timing allows, or have none.
func timing(f facts.Facts) (out facts.Faults) {
	is, has := f.Machine.Timing, f.Plan.Timing.Profile
	const measure = "find out what keeps hosts busy: onprem-infra doctor --timing-proof 10m on " +
		"each of them"
	if is.FellBack != "" {
		out.Add("timing "+is.FellBack, fmt.Sprintf("adverts arrived later than was proven, and "+
			"all nodes changed to %s: failures cost as long as with that", f.Plan.Way()),
			fmt.Sprintf("%s. Then write timing: %s, and --migrate; %s may follow with a new "+
				"proof", measure, has, is.FellBack))
	}
	if len(is.Waits) > 0 {
		out.Add("timing "+has, fmt.Sprintf("adverts arrive later than was proven, so that a VIP "+
			"may move without need; nodes ask for timing %s, and wait: %s", timingproof.Fallback,
			strings.Join(is.Waits, "; ")),
			"start the nodes that are named, or delete the Node of one that is gone for good; "+
				measure)
	}
	if is.Unproven != "" {
		out.Add("timing "+has, fmt.Sprintf("there is no proof of this host, %s, which may hold a "+
			"VIP", is.Unproven),
			fmt.Sprintf("run onprem-infra doctor --timing-proof 1m here, and write what it prints "+
				"under timingProof, or as --proven; or write timing: %s", timingproof.Fallback))
	}
	return out
}

func programs(f facts.Facts) (out facts.Faults) {
	for _, p := range f.Machine.Programs {
		seen := "it is not installed"
		if p.Version != "" {
			seen = "it is version " + p.Version
		}
		if p.Version == "" || p.TooOld {
			out.Add("the program "+p.Name, seen,
				fmt.Sprintf("install %s %s or later: %s", p.Name, p.Needs, p.Why))
		}
	}
	return out
}

func files(f facts.Facts) (out facts.Faults) {
	for _, file := range f.Machine.Files {
		do := "run `onprem-infra diff`, and write the host's files again"
		if file.Path == plan.Path {
			do = "give all hosts of the cluster the same file: hosts with different ones do not " +
				"understand each other"
		}
		out.Add("the file "+file.Path, file.How, do)
	}
	return out
}

// statics finds the Machine Config Operator's static pods on a bootstrap machine: our units do not
// run beside them.
func statics(f facts.Facts) (out facts.Faults) {
	for _, s := range f.Machine.Statics {
		if s.Ours {
			continue
		}
		do := "leave it so for this installation"
		if s.Daemon == "keepalived" && f.Plan.Timing.Profile != vrrp.ProfileCompat {
			do = fmt.Sprintf("give nodes the timing %s: with the timing %s they do not understand "+
				"that keepalived, and hold the VIP beside it",
				vrrp.ProfileCompat, f.Plan.Timing.Profile)
		}
		out.Add("what runs "+s.Daemon+" on this bootstrap machine",
			fmt.Sprintf("kubelet, from %s, which is not of onprem-infra: %s has left",
				s.Path, s.Unit),
			"lay the templates of `onprem-infra mco` over the operator, or "+do)
	}
	return out
}

// The least that is enough: some small files, each with a second one while it is replaced.
const (
	minBytes = 256 << 10
	minFiles = 16
)

func limits(f facts.Facts) (out facts.Faults) {
	l := f.Machine.Limits
	if l == nil {
		return nil
	}
	if l.Bytes < minBytes || l.Files < minFiles {
		out.Add("the file system of "+l.Dir,
			fmt.Sprintf("it is full: %d KiB and %d files are left, and programs exchange their "+
				"state there", l.Bytes>>10, l.Files),
			"see what fills it (df -h and df -i, then du -xh on its mount point), and remove that")
	}
	if l.Unwatchable != "" {
		out.Add("whether programs can watch files (inotify)",
			"they cannot: "+l.Unwatchable+": keepalived may follow none of this host's checks",
			"raise fs.inotify.max_user_instances and fs.inotify.max_user_watches (sysctl), or "+
				"end the program that uses them up: find /proc/[0-9]*/fd -lname anon_inode:inotify")
	}
	return out
}

// credentials are kubelet's: without them a monitor sees nothing of the cluster.
func credentials(f facts.Facts) (out facts.Faults) {
	c := f.Machine.Credentials
	if c == nil {
		return nil
	}
	if c.Directory {
		out.Add("kubelet's kubeconfig, "+c.Kubeconfig,
			"it is a directory, so neither kubelet nor our monitors have credentials: the "+
				"container runtime makes one for a container that starts while the file is not "+
				"there",
			fmt.Sprintf("run 'systemctl stop %s' and 'rmdir %s', put the kubeconfig there, and "+
				"run 'systemctl start %[1]s'; the monitors restart with it",
				f.Plan.KubeletUnit, c.Kubeconfig))
		return out
	}
	for _, file := range c.Outside {
		out.Add(fmt.Sprintf("%s, which kubelet's kubeconfig %s needs", file, c.Kubeconfig),
			"our monitors do not see it: of certificates they have "+strings.Join(c.Mounted, ", "),
			fmt.Sprintf("add %s to spec.certificateDirectories of cluster.yaml, and give every "+
				"host of the cluster the files of 'onprem-infra render' again; or have the "+
				"kubeconfig hold it (such as certificate-authority-data)", path.Dir(file)))
	}
	return out
}

func ports(f facts.Facts) (out facts.Faults) {
	for _, p := range f.Machine.Ports {
		if p.Taken != "" {
			out.Add(fmt.Sprintf("port %d (%s)", p.Number, p.Name),
				fmt.Sprintf("%s must listen there, and cannot: %s", p.Owner, p.Taken),
				fmt.Sprintf("stop the program that listens there (ss -lpn 'sport = :%d'), or "+
					"choose another number by --port %s=N if it may be chosen", p.Number, p.Name))
		}
	}
	return out
}

// shortReference is an image's reference that fits a line. A digest is cut as container engines
// print it.
func shortReference(reference string) string {
	const length = 12
	name, digest, ok := strings.Cut(reference, "@sha256:")
	if !ok || len(digest) <= length {
		return reference
	}
	return name + "@sha256:" + digest[:length] + "…"
}

func images(f facts.Facts) (out facts.Faults) {
	for _, i := range f.Machine.Images {
		if i.Fault != "" {
			out.Add(fmt.Sprintf("the image %s (%s)", shortReference(i.Reference), i.Key), i.Fault,
				"see that the registry runs, has the image, and is reached from here; credentials "+
					"are not tried")
		}
	}
	return out
}
