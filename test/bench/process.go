package main

import (
	"github.com/onprem-infra/onprem-infra/test/figures"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// use is what one process has had.
type use struct {
	Container string  `json:"container"`
	Program   string  `json:"program"`
	CPU       float64 `json:"cpu_seconds"`
	RSS       int     `json:"rss_kb"`
}

// uses reads every process of a node's containers, by its number.
func uses(n *life.Node) (map[int]use, error) {
	found := map[int]use{}
	for _, container := range n.Containers() {
		processes, err := n.Processes(container)
		if err != nil {
			return nil, err
		}
		for _, p := range processes {
			cpu, err := figures.Processor(p.PID)
			if err != nil {
				continue // it has ended
			}
			found[p.PID] = use{Container: container, Program: p.Program, CPU: cpu, RSS: figures.Resident(p.PID)}
		}
	}
	return found, nil
}
