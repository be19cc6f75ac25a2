package openshift

import (
	"maps"
	"slices"
	"strings"
)

// Nodes are the possible nodes of a platform: lists of units with one form of each. Lists in which
// the operator's units form a cycle are left out: no release has both forms.
func Nodes(platform string) [][]Unit {
	ways := [][]Unit{nil}
	for _, forms := range byName(platform) {
		var more [][]Unit
		for _, way := range ways {
			for _, form := range forms {
				more = append(more, append(slices.Clip(slices.Clone(way)), form...))
			}
		}
		ways = more
	}
	return slices.DeleteFunc(ways, func(way []Unit) bool { return len(Cycle(way)) > 0 })
}

// byName are the units of a platform, sorted by name: all forms of each, with the drop-ins of the
// unit.
func byName(platform string) [][][]Unit {
	forms, dropIns := map[string][]Unit{}, map[string][]Unit{}
	for _, u := range Facts() {
		switch {
		case u.Platform != "" && u.Platform != platform:
		case u.DropIn:
			dropIns[u.Name] = append(dropIns[u.Name], u)
		default:
			forms[u.Name] = append(forms[u.Name], u)
		}
	}
	var all [][][]Unit
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		var list [][]Unit
		for _, form := range forms[name] {
			list = append(list, append([]Unit{form}, dropIns[name]...))
		}
		all = append(all, list)
	}
	return all
}

// Order lists for each unit the units before it, including implicit dependencies: a service is
// after basic.target, a path before it, and a target after all that it wants and requires.
func Order(units []Unit) map[string][]string {
	after := map[string][]string{
		"basic.target":      {"sysinit.target", "paths.target", "sockets.target", "timers.target"},
		"multi-user.target": {"basic.target"}, "default.target": {"multi-user.target"},
		"network.target": {"network-pre.target"}, "network-online.target": {"network.target"},
	}
	before := func(earlier, later string) { after[later] = append(after[later], earlier) }
	for _, u := range units {
		after[u.Name] = append(after[u.Name], strings.Fields(u.After)...)
		for _, later := range strings.Fields(u.Before) {
			before(u.Name, later)
		}
		switch {
		case strings.HasSuffix(u.Name, ".service"):
			before("basic.target", u.Name)
		case strings.HasSuffix(u.Name, ".path"):
			before(u.Name, "paths.target")
		case strings.HasSuffix(u.Name, ".target"):
			after[u.Name] = append(after[u.Name], strings.Fields(u.Wants+" "+u.Requires)...)
		}
		for _, by := range strings.Fields(u.WantedBy + " " + u.RequiredBy) {
			if strings.HasSuffix(by, ".target") {
				before(u.Name, by)
			}
		}
	}
	return after
}

// Cycle is a cycle in the order of units, each after the next one, or nil.
func Cycle(units []Unit) []string {
	after := Order(units)
	done := map[string]bool{}
	var visit func(name string, path []string) []string
	visit = func(name string, path []string) []string {
		if i := slices.Index(path, name); i >= 0 {
			return append(slices.Clone(path[i:]), name)
		}
		if done[name] {
			return nil
		}
		for _, earlier := range after[name] {
			if cycle := visit(earlier, append(path, name)); cycle != nil {
				return cycle
			}
		}
		done[name] = true
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if cycle := visit(name, nil); cycle != nil {
			return cycle
		}
	}
	return nil
}

// Earlier are all units before a unit, directly or not.
func Earlier(units []Unit, name string) map[string]bool {
	after, found := Order(units), map[string]bool{}
	for queue := after[name]; len(queue) > 0; queue = queue[1:] {
		if !found[queue[0]] {
			found[queue[0]] = true
			queue = append(slices.Clip(queue), after[queue[0]]...)
		}
	}
	return found
}
