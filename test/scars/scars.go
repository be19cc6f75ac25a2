// Package scars maps the bug history of the systems that went before to the tests that keep this one from it: each scar has its tests and,
// with each test, the defect that brings the old bug back. `make scars` puts every defect in, in a copy of the tree, and sees its test fail.
package scars

import "slices"

// Scar is one entry of the bug history. It is kept by tests, or Open says why not; it may have both, when a part of it belongs to what is
// not here yet.
type Scar struct {
	ID   string // as the tests' names and comments write it: K-01
	Was  string // what went wrong, in a few words
	Kept []Keeper
	Open string // why no test keeps it, or what of it is not kept yet
}

// Keeper is a test that fails when its defect is in the code.
type Keeper struct {
	Room   string // path of the package below the module
	Test   string // TestFunction, or TestFunction/name of a subtest as the code spells it
	Defect Defect
}

// Defect is a small edit that brings the old bug back.
type Defect struct {
	File string // path below the module
	Old  string // occurs exactly once in File
	New  string
}

// Part is a chapter of the bug history.
type Part struct {
	Title string
	IDs   []string // all scars of the chapter, in its order
	Scars []Scar
}

// Parts are the chapters of the history, and after them what no history told.
func Parts() []Part {
	return []Part{
		{Title: "1. keepalived: identity, VRIDs, configuration", IDs: numbered("K", 1, 21), Scars: part1()},
		{Title: "2. keepalived: membership, split brain, migration", IDs: numbered("K", 22, 32), Scars: part2()},
		{Title: "3. keepalived: bootstrap hand-over", IDs: numbered("K", 33, 43), Scars: part3()},
		{Title: "4. keepalived: checks, probes, process handling", IDs: numbered("K", 44, 66), Scars: part4()},
		{Title: "5. HAProxy, and the redirect of the VIPs to it", IDs: numbered("H", 1, 25), Scars: part5()},
		{Title: "6. CoreDNS and DNS content", IDs: numbered("D", 1, 16), Scars: part6()},
		{Title: "7. Multicast DNS (M-01 to M-10 of the history)", IDs: numbered("Q", 1, 10), Scars: multicastDNS()},
		{Title: "8. Node IP and boot ordering", IDs: numbered("N", 1, 26), Scars: part8()},
		{Title: "9. resolv.conf, NetworkManager, hostname", IDs: numbered("R", 1, 18), Scars: slices.Concat(part9(), resolver())},
		{Title: "9b. Platform plumbing and provisioning", IDs: slices.Concat(numbered("P", 1, 9), numbered("B", 1, 9)), Scars: part9b()},
		{Title: "10. Weaknesses of today's code", IDs: counted("W", 38), Scars: weaknesses()},
		{Title: "Elections: who may stand and what counts, beside the scars", IDs: numbered("E", 1, 10), Scars: elections()},
		{Title: "Input: what people write, beside the scars", IDs: numbered("I", 1, 31), Scars: people()},
		{Title: "The installer: what it refuses, and what it does of itself, beside the scars", IDs: numbered("IN", 1, len(installers())), Scars: installers()},
		{Title: "Registries: what they do, beside the scars", IDs: numbered("G", 1, 13), Scars: registries()},
		{Title: "Containers: what people and podman do to them, beside the scars", IDs: numbered("C", 1, 14), Scars: containers()},
		{Title: "Hosts: what happens to them and to their VIPs, beside the scars", IDs: numbered("V", 1, 12), Scars: hosts()},
		{Title: "The hand-over: what it must keep, beside the scars", IDs: numbered("T", 1, 8), Scars: handovers()},
		{Title: "The balancer: what becomes of connections, beside the scars", IDs: numbered("L", 1, 6), Scars: balancers()},
		{Title: "Daemons: what their releases differ in, beside the scars", IDs: numbered("ND", 1, 8), Scars: newDaemons()},
		{Title: "Nodes' files: what they say and let be done, beside the scars", IDs: numbered("A", 1, 8), Scars: nodes()},
		{Title: "Name servers: what becomes of questions when they change, beside the scars", IDs: numbered("U", 1, 3), Scars: upstreams()},
		{Title: "Multicast DNS: what is said and what is believed, beside the scars", IDs: numbered("Q", 11, 36), Scars: announced()},
		{Title: "The DNS VIP, how fast names are answered, and who shares a link, beside the scars", IDs: numbered("Q", 37, 51), Scars: dnsVIPs()},
		{Title: "Timing: profiles, waits and bounds, beside the scars", IDs: numbered("M", 1, 14), Scars: timings()},
		{Title: "Ranks and the holder's bonus, beside the scars", IDs: numbered("O", 1, 15), Scars: ranks()},
		{Title: "Migrations: how the nodes of a live cluster change, beside the scars", IDs: numbered("X", 1, 11), Scars: migrations()},
		{Title: "The simulator and its pictures, beside the scars", IDs: numbered("S", 1, 10), Scars: simulated()},
		{Title: "The lab, its bench and its chaos, beside the scars", IDs: numbered("F", 1, 9), Scars: labs()},
		{Title: "Clashes, the journal and status, beside the scars", IDs: numbered("J", 1, 20), Scars: slices.Concat(seen(), heard())},
		{Title: "Rights: what one kubelet can do, beside the scars", IDs: numbered("RI", 1, 13), Scars: slices.Concat(rights(), credentials())},
		{Title: "Doctor: what is looked at, and what is blamed, beside the scars", IDs: numbered("DR", 1, 17), Scars: examined()},
		{Title: "Metrics, alerts and Events, beside the scars", IDs: numbered("ME", 1, 29), Scars: measured()},
		{Title: "Diff, the report and the documents, beside the scars", IDs: numbered("DF", 1, 29), Scars: compared()},
		{Title: "Seeing and telling: what a second reading found, beside the scars", IDs: numbered("RV", 1, 11), Scars: reread()},
		{Title: "What a new user meets, beside the scars", IDs: numbered("RD", 1, 9), Scars: met()},
		{Title: "Templates, envelopes, the library, the image and any Kubernetes, beside the scars", IDs: numbered("Y", 1, 16), Scars: templated()},
		{Title: "What nodes do all the time, and how it is measured, beside the scars", IDs: numbered("Z", 1, 8), Scars: looks()},
		{Title: "The supervisor under attack and without means, beside the scars", IDs: numbered("SU", 1, len(supervisors())), Scars: supervisors()},
		{Title: "Simulations and reasons: sizes, verdicts and what was received", IDs: numbered("SI", 1, len(judged())), Scars: judged()},
		{Title: "What an operator loses or misreads", IDs: numbered("OP", 1, len(losses())), Scars: losses()},
		{Title: "What stands beside ours on a host of OpenShift, beside the scars", IDs: numbered("OR", 1, len(orders())), Scars: orders()},
		{Title: "Fresh machines, busy ones, and other releases of Debian, beside the scars", IDs: numbered("FM", 1, 8), Scars: machine()},
		{Title: "One hostile host of the network, beside the scars", IDs: numbered("HO", 1, 18), Scars: slices.Concat(network(), listed())},
	}
}

func kept(id, was string, by ...Keeper) Scar { return Scar{ID: id, Was: was, Kept: by} }

func partly(id, was, open string, by ...Keeper) Scar {
	return Scar{ID: id, Was: was, Kept: by, Open: open}
}

func open(id, was, why string) Scar { return Scar{ID: id, Was: was, Open: why} }

func by(room, test, file, old, new string) Keeper {
	return Keeper{Room: room, Test: test, Defect: Defect{File: file, Old: old, New: new}}
}
