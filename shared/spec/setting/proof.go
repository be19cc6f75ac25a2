package setting

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/near"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/timingproof"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Proven are the hosts that need a proof.
type Proven struct {
	Hosts machine.Hosts
	machine.Counts
}

// candidates are the names of the hosts that may hold the API VIP, and of workers, which may hold
// the ingress VIP. Too few hosts are no error in a description, so there are none unless the whole
// control plane is listed.
func (p Proven) candidates() (masters, workers []string) {
	var roles []string
	hosts := p.Hosts.Values()
	for _, h := range hosts {
		roles = append(roles, h.Role)
	}
	for i, role := range machine.Fill(roles, p.Counts) {
		switch name := hosts[i].Name; {
		case name == "":
		case role == machine.Master:
			masters = append(masters, name)
		case role == machine.Worker:
			workers = append(workers, name)
		}
	}
	if len(masters) < p.Masters {
		return nil, nil
	}
	return masters, workers
}

// longest is the largest lateness of a proof, in microseconds: no holder of VIPs is that late.
const longest = 10_000_000

// checkProof checks that a timing which needs a proof has as many as there are control plane nodes,
// and that each host was early enough.
func (s Settings) checkProof(r *document.Report, hosts *Proven) {
	timing, ok := vrrp.TimingOf(s.Timing.Value)
	needed, most := ok && timingproof.Needed(timing), timingproof.Allowed(timing)
	if needed && hosts != nil {
		s.checkProven(r, timing.Profile, hosts)
	}
	for _, host := range slices.Sorted(maps.Keys(s.Proof)) {
		late := s.Proof[host]
		worst := time.Duration(late.Value) * time.Microsecond
		if fault := name.NoHost(host); fault != "" {
			r.Errorf(late.At, "%s %s", document.Quote(host), fault)
		}
		switch {
		case !late.OK:
		case late.Value < 1 || late.Value > longest:
			r.Errorf(late.At, "%d is no time in microseconds that a host was late: write a number "+
				"from 1 to %d", late.Value, longest)
		case needed && worst > most:
			r.Errorf(late.At, "%s was %v late, and timing %s allows up to %v: find out what keeps "+
				"it busy and measure again, or write timing: %s", host, worst, timing.Profile,
				most.Round(100*time.Microsecond), timingproof.Fallback)
		}
	}
}

// checkProven checks whose proofs there are. Too few are an error. Whose they are is none: hosts
// read their own description by this too, may have other names than in it, and may join later.
func (s Settings) checkProven(r *document.Report, timing string, hosts *Proven) {
	const measure = "run onprem-infra doctor --timing-proof 1m on %s, and write what each prints " +
		"under timingProof, or as --proven"
	masters, workers := hosts.candidates()
	lacking := timingproof.Lacking(s.Proof, masters)
	switch {
	case len(s.Proof) < hosts.Masters:
		r.Errorf(s.Timing.At, "timing %s needs a proof of %d hosts at least, and has one of %d: "+
			measure, timing, hosts.Masters, len(s.Proof), "every host that may hold a VIP")
	case len(masters)-len(lacking) < min(len(masters), hosts.Masters):
		r.Warnf(s.Timing.At, "timing %s needs a proof of each control plane node, and has none "+
			"of %s: "+measure, timing, some(lacking), "each of them")
	}
	if lacking := timingproof.Lacking(s.Proof, workers); len(lacking) > 0 {
		r.Warnf(s.Timing.At, "timing %s has no proof of %s, which may hold the ingress VIP: "+
			measure, timing, some(lacking), "each of them")
	}
	if len(masters) == 0 {
		return
	}
	known := slices.Concat(masters, workers)
	without := timingproof.Lacking(s.Proof, known)
	for _, host := range slices.Sorted(maps.Keys(s.Proof)) {
		if slices.ContainsFunc(known, func(k string) bool { return timingproof.Same(k, host) }) {
			continue
		}
		do := "keep it if a host calls itself so, or is to join later"
		if meant := near.Word(host, without); meant != "" {
			do = "spell it " + meant + " where that is meant"
		}
		r.Warnf(s.Proof[host].At, "no host that may hold a VIP is listed by that name: %s", do)
	}
}

// some lists the first few names.
func some(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
