//go:build remote

package main

import (
	"os"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// parts are what a priority is made of, from the same files that keepalived reads. What they do not
// explain is a part of its own, so that those which count sum up to the priority, whatever happens.
func (l *statusLook) parts(
	e election.Election, o election.Observation, v statusVIP, status supervised.Status,
) (out []statusPart) {
	sum := 0
	add := func(p statusPart) {
		if out = append(out, p); p.Counts {
			sum += p.Adds
		}
	}
	if there, err := exists(l.host.at(vip.MemoryPath)); err == nil && !there && e.Bootstrap != 0 {
		add(statusPart{Name: "bootstrap", Adds: int(e.Bootstrap), Counts: true})
	} else {
		add(statusPart{Name: "base", Adds: int(e.Scheme.Base), Counts: true})
		if rank := l.rank(e, o); rank != 0 {
			add(statusPart{Name: "rank", Adds: rank, Counts: true})
		}
		if e.Scheme.Holder != 0 {
			held := l.number(supervised.HolderTrack(string(v.Instance)))
			add(statusPart{Name: "holder", Adds: e.Scheme.Holder * max(held, 1), Counts: held == 1})
			if held < 0 {
				out[len(out)-1] = statusPart{Name: "holder", Adds: -e.Scheme.Holder, Counts: true}
				sum -= e.Scheme.Holder
			}
		}
		said, _ := l.host.results() // what it says is for people, and status says it without as well
		for _, w := range e.Scheme.Checks {
			path := election.TrackFile(w.Check, w.Fault)
			p := statusPart{Name: string(w.Check), Adds: w.Adds, Fault: w.Fault, Counts: l.host.tracked(w.Check, w.Fault) && !status.MonitorSilent}
			if info, err := os.Stat(l.host.at(path)); err == nil {
				p.Since = info.ModTime().UTC()
			}
			if i := slices.IndexFunc(said, func(s checks.Result) bool { return s.Check == w.Check }); i >= 0 {
				p.Why = said[i].Why
			}
			add(p)
		}
	}
	if rest := v.Priority - sum; rest != 0 {
		add(statusPart{Name: "unexplained", Adds: rest, Counts: true})
	}
	return out
}

// rank is what this node's rank adds.
func (l *statusLook) rank(e election.Election, o election.Observation) int {
	if e.Kind == vrrp.Ingress {
		choose := func(v election.VIP) (addr.Choice, error) { return e.Choose(v, o) }
		if rank, ok := e.AddressRank(choose); ok {
			return e.Scheme.Candidates().Rank(rank)
		}
		return 0
	}
	text, err := os.ReadFile(l.host.at(vip.MemoryPath))
	if err != nil {
		return 0
	}
	memory, err := vip.DecodeMemory(text)
	if err != nil {
		return 0
	}
	if rank, ok := notice.ReadRank(memory.Rank, len(e.Scheme.Ranks)); ok {
		return e.Scheme.Candidates().Rank(rank)
	}
	return 0
}

// number is what a tracked file of the supervisor's says: -1, 0 or 1, and 0 for anything else.
func (l *statusLook) number(file string) int {
	text, err := os.ReadFile(l.host.at(election.RunDir, file))
	if err != nil {
		return 0
	}
	return map[string]int{"1": 1, "-1": -1}[strings.TrimSpace(string(text))]
}
