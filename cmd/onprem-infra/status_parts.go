//go:build remote

package main

import (
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// parts are what a priority is made of, from the same files that keepalived reads. What they do not explain is a part of its own, so that those which
// count sum up to the priority, whatever happens.
func (l *statusLook) parts(kind vrrp.Kind, ladder plan.Ladder, own netip.Addr, v statusVIP, status supervised.Status) (out []statusPart) {
	sum := 0
	add := func(p statusPart) {
		if out = append(out, p); p.Counts {
			sum += p.Adds
		}
	}
	first := map[vrrp.Kind]vrrp.Priority{vrrp.API: l.plan.VRRP.BootstrapPriority, vrrp.DNS: l.plan.VRRP.DNSBootstrapPriority}[kind]
	if there, err := exists(l.host.at(vip.MemoryPath)); err == nil && !there && first != 0 {
		add(statusPart{Name: "bootstrap", Adds: int(first), Counts: true})
	} else {
		add(statusPart{Name: "base", Adds: int(ladder.Base), Counts: true})
		if rank := l.rank(kind, ladder, own); rank != 0 {
			add(statusPart{Name: "rank", Adds: rank, Counts: true})
		}
		if ladder.Holder != 0 {
			held := l.number(supervised.HolderTrack(string(v.Instance)))
			add(statusPart{Name: "holder", Adds: ladder.Holder * max(held, 1), Counts: held == 1})
			if held < 0 {
				out[len(out)-1] = statusPart{Name: "holder", Adds: -ladder.Holder, Counts: true}
				sum -= ladder.Holder
			}
		}
		said, _ := l.host.said() // what it says is for people, and status says it without as well
		for _, w := range ladder.Checks {
			path := election.TrackFile(w.Check, w.Fault)
			p := statusPart{Name: string(w.Check), Adds: w.Adds, Fault: w.Fault, Counts: l.host.tracked(w.Check, w.Fault) && !status.MonitorSilent}
			if info, err := os.Stat(l.host.at(path)); err == nil {
				p.Since = info.ModTime().UTC()
			}
			if i := slices.IndexFunc(said, func(s vip.Said) bool { return s.Check == w.Check }); i >= 0 {
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
func (l *statusLook) rank(kind vrrp.Kind, ladder plan.Ladder, own netip.Addr) int {
	if len(ladder.Ranks) == 0 {
		return 0
	}
	if kind == vrrp.Ingress {
		if !own.IsValid() {
			return 0
		}
		return ladder.Candidates().Rank(ladder.Candidates().Spread(own))
	}
	text, err := os.ReadFile(l.host.at(vip.MemoryPath))
	if err != nil {
		return 0
	}
	memory, err := vip.DecodeMemory(text)
	if err != nil {
		return 0
	}
	if rank, ok := notice.ReadRank(memory.Rank, len(ladder.Ranks)); ok {
		return ladder.Candidates().Rank(rank)
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
