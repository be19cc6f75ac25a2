package scars

// templated is what is asked of the templates for the Machine Config Operator, of the other envelopes, of the library, of the image and of clusters that
// are not OpenShift's, beside the scars.
func templated() []Scar {
	const (
		matrix    = "test/matrix"
		templates = "cluster/mco"
		describe  = "cluster/mco/describe.go"
		names     = "cluster/mco/names.go"
		fields    = "cluster/mco/clusterjson.go"
		situation = "cluster/mco/situation.go"
		nodes     = "shared/plan/nodes.go"
		flavour   = "shared/plan/flavour.go"
		found     = "cluster/vip/found.go"
		machine   = "ignition/machineconfig.go"
		importer  = "test/importer"
		line      = "import (\n\t\"github.com/onprem-infra/onprem-infra/shared/port\"\n"
		heavy     = "import (\n\t_ \"k8s.io/api/core/v1\"\n\n\t\"github.com/onprem-infra/onprem-infra/shared/port\"\n"
	)
	return []Scar{
		kept("Y-01", "A node got another file by the operator's templates than by itself.",
			by(matrix, "TestOperator/as it comes", describe, `mode: %04o`, `mode: %o`),
			by(matrix, "TestOperator/as told", situation, "MigrateFrom: elections.MigrateFrom, ", ""),
			by(templates, "TestText", describe, `		style += "2"`, `		style += ""`)),
		kept("Y-02", "A template decided more than the text of cluster.json, images, a name and presence.",
			by(templates, "TestLogic", describe, `"{{ onPremPlatformShortName . }}"`, `"{{ if .Infra }}{{ onPremPlatformShortName . }}{{ end }}"`),
			by(templates, "TestPresence", situation, "\t\tcondition = vips\n", "\t\tcondition = ours\n")),
		kept("Y-03", "The manifests of the operator's bootstrap command were not those of the bootstrap machine.",
			by(matrix, "TestOperatorBootstrap", "cluster/mco/bootstrap.go", "{{ .Images.CorednsBootstrap", "{{ .Images.Coredns"),
			by(matrix, "TestOperatorBootstrap", fields, `said("DNSRecordsType", "Internal", "BareMetal", "Nutanix",`, `said("DNSRecordsType", "Internal", "BareMetal",`)),
		kept("Y-04", "What a ControllerConfig says became syntax of cluster.json.",
			by(matrix, "TestOperatorHostile", fields, "return `{{ printf \"%q\" ` + value + ` }}`", "return `\"{{ ` + value + ` }}\"`")),
		kept("Y-05", "Something that the operator refuses, or cannot write.",
			by(matrix, "TestRefused", "units/units.go", `Path: "/usr/local/bin/onprem-install"`, `Path: "/usr/bin/onprem-install"`),
			by("ignition", "TestFormsOfClusters", "units/units.go", `Path: "/usr/local/bin/onprem-install"`, `Path: "/usr/bin/onprem-install"`)),
		kept("Y-06", "What the operator has for the same work stayed beside ours, or was merged into it.",
			by(matrix, "TestOver", names, `return "wait-for-primary-ip.yaml" // by`, `return u.Name + ".yaml" // by`),
			by(matrix, "TestOver", names, `"keepalived.yaml", "resolv-prepender.yaml",`, `"keepalived.yaml",`),
			by(matrix, "TestOver", "cluster/mco/mco.go", "\t\t\tput(path.Join(string(r), \"00-\"+string(r)), t, texts[r][t])\n", "\t\t\tif texts[r][t] != \"\" {\n\t\t\t\tput(path.Join(string(r), \"00-\"+string(r)), t, texts[r][t])\n\t\t\t}\n")),
		kept("Y-07", "A host of some kind of cluster got what it must not have, or not what it needs.",
			by(matrix, "TestEnabled", nodes, "LB:       r == role.Master,", "LB:       r != role.Worker,"),
			by(matrix, "TestTrees", "cluster/assets.go", `[]byte("#!/bin/sh\nexec`, `[]byte("#!/bin/sh\n\nexec`),
			by(matrix, "TestSecondPair", "cluster/pods.go", `"--yield-on-term"}`, `"--yield-on-term", p.VIPs.API[len(p.VIPs.API)-1].String()}`),
			by(matrix, "TestShapes", nodes, "[]spec.Topology{spec.SingleReplica, ", "[]spec.Topology{"),
			by(matrix, "TestShapes", "shared/spec/validate.go", "if n == 1 && d.platform == BareMetal && d.installConfig {", "if n == 1 && d.installConfig {")),
		kept("Y-08", "A node of some kind of cluster stood for a VIP that it must not hold, or for one family of two that belong together.",
			by(matrix, "TestElections", "cluster/vip/decide.go", "return dual && r.plan.Platform == spec.OpenStack", "return dual && r.plan.Platform != spec.BareMetal"),
			by(matrix, "TestElections", "cluster/vip/decide.go", "\tif s.Remote {", "\tif s.Remote && r.plan.Platform == spec.BareMetal {"),
			by(matrix, "TestElections", nodes, "spec.DualReplica, spec.HighlyAvailableArbiter}", "spec.DualReplica}")),
		kept("Y-09", "An object that no pool takes, or a form that its reader does not.",
			by("ignition", "TestMachineConfig", machine, `Name: "99-" + string(r) + "-onprem-infra"`, `Name: "99-onprem-infra-" + string(r)`),
			by("ignition", "TestMachineConfig", machine, "\tm.Spec.Config = said(m.Spec.Config)\n", ""),
			by("ignition", "TestButane", "ignition/butane.go", `fmt.Sprintf("%#o"`, `fmt.Sprintf("%o"`),
			by("cmd/onprem-infra", "TestIgnitionForms", "cmd/onprem-infra/ignition.go", "if format == machineConfigForm && kind == role.Bootstrap {", "if false {")),
		kept("Y-10", "Who imports us got a Kubernetes client, a container engine or a machine with it.",
			by("test", "TestLawsImporter", flavour, line, heavy),
			by(importer, "TestStranger", flavour, line, heavy),
			by("test", "TestLawsPure", "shared/plan/nodes.go", "\t\"strings\"\n", "\t\"strings\"\n\t_ \"os\"\n"),
			by("test", "TestLawsPure", flavour, "func flavourFor(c spec.Cluster) Flavour {\n", "var last spec.Cluster\n\nfunc flavourFor(c spec.Cluster) Flavour {\n\tlast = c\n")),
		kept("Y-11", "Two callers disturbed each other, or a thousand clusters stayed.",
			by(importer, "TestConcurrent", flavour, byItself, byLast),
			by(importer, "TestShared", "units/units.go", "func Installer() (asset.File, error) {\n\ttext, err := files.ReadFile(\"onprem-install\")\n", "var kept, errKept = files.ReadFile(\"onprem-install\")\n\nfunc Installer() (asset.File, error) {\n\ttext, err := kept, errKept\n"),
			by(importer, "TestThousand", "shared/plan/compile.go", "func Compile(c spec.Cluster) (Plan, error) {\n", "var kept [][]byte\n\nfunc Compile(c spec.Cluster) (Plan, error) {\n\tkept = append(kept, make([]byte, 1<<14))\n\tclear(kept[len(kept)-1])\n")),
		kept("Y-12", "Two builds of a commit were two images, or one did not say what it is.",
			by("test/envelopes", "TestImage", "Makefile", " --timestamp $(SOURCE_DATE_EPOCH)", ""),
			by("test/envelopes", "TestImage", "Containerfile", "      org.opencontainers.image.licenses=\"Apache-2.0\"\n", "      org.opencontainers.image.licenses=\"\"\n")),
		kept("Y-13", "Where kubelet has the bootstrap machine's daemons, the VIP was said to be gone before it was, or a dead daemon to live.",
			by("cmd/onprem-infra", "TestPodKeepalivedStop", "cmd/onprem-infra/bootstrap_pod.go", "status.Leaving == supervised.Left ||", "status.Leaving != supervised.Stays ||"),
			by("cmd/onprem-infra", "TestPodKeepalivedStop", "cmd/onprem-infra/bootstrap_pod.go", "errors.Is(k.health.Probe(ctx), syscall.ECONNREFUSED)", "k.health.Probe(ctx) != nil && ctx.Err() == nil"),
			by("cmd/onprem-infra", "TestPodCoreDNS", "cmd/onprem-infra/bootstrap_pod.go", "if c.held != nil && c.held.Signal(0) == nil {", "if c.held != nil {")),
		kept("Y-14", "Another Kubernetes was asked for what only OpenShift has, or got what names it.",
			by("shared/plan", "TestFlavour", flavour, "\t\tFounds: true,\n", ""),
			by("shared/plan", "TestEveryPolicyIsProven", flavour, "\t\tabsent = append(absent, vrrp.CheckMCS)\n", ""),
			by("test/render", "TestNoTraceOfOpenShift", flavour, `KubeletGate: "10-onprem-wait-resolv.conf"`, `KubeletGate: "10-mco-on-prem-wait-resolv.conf"`),
			by("cmd/onprem-infra", "TestPlanOfAnyKubernetes", "cmd/onprem-infra/plan.go", "\t\tview.LoadBalancer = spec.LoadBalancer(p.Balancer())\n", "\t\tview.LoadBalancer = spec.LoadBalancer(p.LoadBalancer)\n"),
			by("test/render", "TestNoTraceOfOpenShift", "cluster/assets.go", "ok && p.Flavour().Around {", "ok {")),
		kept("Y-15", "The first node of a cluster without a bootstrap machine took the VIP from somebody, or nobody took it.",
			by("cluster/vip", "TestFounding", found, "if alone++; !free {", "if alone++; false {"),
			by("cluster/vip", "TestFounding", found, "\t<-ctx.Done()\n\treturn nil\n", "\treturn nil\n"),
			by("cluster/vip", "TestFirst", found, "\t\tr.founding.over.Store(true)\n", ""),
			by("cluster/vip", "TestFirstAfterRestart", found, "\treturn r.founding.first.Load()\n", "\treturn true\n"),
			by("cmd/onprem-infra", "TestMayFound", "cmd/onprem-infra/monitor_vip_found.go", " || len(memory.Nodes) > 0 {", " {"),
			by("cmd/onprem-infra", "TestFounderAnswered", "cmd/onprem-infra/monitor_vip_found.go", "syscall.ECONNREFUSED", "syscall.ECONNRESET")),
		kept("Y-16", "The first node of all went on as if it were alone when a second one had come.",
			by("test/e2e", "TestLongKubeadm", found, "if len(r.memory.Nodes) > 0 {", "if len(r.memory.Nodes) > 5 {"),
			by("cluster/vip", "TestFirst", found, "if len(r.memory.Nodes) > 0 {", "if len(r.memory.Nodes) > 5 {")),
	}
}

// A plan whose distribution is looked up by the platform of whoever compiled last.
const (
	byItself = `	return flavourOf(or(p.Distribution, distributionOf(p.Platform)), p.Platform)
}

// distributionOf is that of a platform's clusters where the user says nothing else: OpenShift gives virtual IPs to none but its five platforms.
func distributionOf(platform spec.Platform) spec.Distribution {
	if platform == spec.None {
		return spec.Kubernetes
	}
	return spec.OpenShift
}

func distributionFor(c spec.Cluster) spec.Distribution {
`
	byLast = `	return flavourOf(or(p.Distribution, distributionOf(p.Platform)), last)
}

var last spec.Platform

func distributionOf(platform spec.Platform) spec.Distribution {
	if platform == spec.None {
		return spec.Kubernetes
	}
	return spec.OpenShift
}

func distributionFor(c spec.Cluster) spec.Distribution {
	last = c.Platform
`
)

// looks is what is asked of what every node does all the time: it may cost little, and must see all the same.
func looks() []Scar {
	const (
		knock   = "shared/host/localhost/knock.go"
		pages   = "shared/host/proc/pages.go"
		measure = "test/bench/measure.go"
	)
	return []Scar{
		kept("Z-01", "A connection that is kept gave the answer to another question, or was asked though it could not answer.",
			by("shared/host/probe", "TestLine/says something after its answer", "shared/host/probe/line.go", " && w.reader.Buffered() == 0", ""),
			by("shared/host/probe", "TestLine/closes after an answer", "shared/host/probe/line.go", "err == nil || w.heard || ctx.Err() != nil", "true")),
		kept("Z-02", "A program let go of memory that it had written, or of none.",
			by("shared/host/proc", "TestReadOnly", pages, " || bytes.IndexByte(fields[1], 'w') >= 0", ""),
			by("shared/host/proc", "TestUnmap", pages, "unix.MADV_DONTNEED", "unix.MADV_WILLNEED")),
		kept("Z-03", "Whoever kept a process's line open did not see it stopped.",
			by("shared/host/proc", "TestHeld", "shared/host/proc/held.go", "n, err := unix.Pread(s.fd, s.text, 0)", "n, err := unix.Read(s.fd, s.text)")),
		kept("Z-04", "A heartbeat woke its reader more than once, or left old text behind.",
			by("shared/host/file", "TestOverwrite", "shared/host/file/write.go", "os.O_WRONLY|os.O_CREATE, mode)", "os.O_WRONLY|os.O_CREATE|os.O_APPEND, mode)")),
		kept("Z-05", "A change of the machine's links while they were read was lost.",
			by("cmd/onprem-infra", "TestKeptLinks", "cmd/onprem-infra/monitor_vip_links.go", "k.have, k.at, k.last = err == nil, at, s", "k.have, k.at, k.last = err == nil, max(at, k.news), s")),
		kept("Z-06", "A server that had come was not found, or one that had gone was asked at full cost.",
			by("shared/host/localhost", "TestKnocker", knock, "if last.err != nil && closed(address) {", "if last.err != nil {"),
			by("shared/host/localhost", "TestKnocker", knock, "time.Since(last.at) < k.Rest", "false")),
		kept("Z-07", "A clock went on at its old pace.",
			by("shared/host/supervise", "TestMetronome", "shared/host/supervise/glance.go", "if pause != m.pause {", "if m.pause == 0 {")),
		kept("Z-08", "What the machine did was laid at a cluster's door, or a figure outside of what was computed passed.",
			by("test/bench", "TestBeside", measure, "o.Start.Before(r.End) && r.Start.Before(o.End)", "o.Start.Before(r.End)"),
			by("test/bench", "TestDiffers", "test/bench/agree.go", "s.nobody < c.nobody.least-reaction || ", "")),
	}
}
