package frr

import (
	"slices"
	"strings"
)

// Compare compares a daemon's running configuration ("show running-config") with the wanted one.
// missing is what the daemon lacks. extra is what it has beyond the wanted one in its BGP
// process, lists, route maps and BFD profiles, whatever their names. Neither has secrets.
func Compare(d Daemon, c Config, running string) (missing, extra []string) {
	has := parse(running)
	for _, s := range c.Sections(d) {
		for _, l := range s.Lines {
			if i := slices.Index(has, l.place(s)); i >= 0 {
				has = slices.Delete(has, i, i+1)
				continue
			}
			missing = append(missing, strings.Join(append(slices.Clone(s.Enter), l.String()), ": "))
		}
		for i := range s.Enter { // FRR writes no lines of a section that has none
			place := strings.Join(s.Enter[:i+1], "\n")
			has = slices.DeleteFunc(has, func(h string) bool { return h == place })
		}
	}
	for _, h := range has {
		if kind, _, _ := strings.Cut(h, " "); slices.Contains([]string{"router", "route-map", "bfd",
			"ip", "ipv6", "bgp"}, strings.TrimSpace(kind)) {
			extra = append(extra, hide(strings.ReplaceAll(h, "\n", ": ")))
		}
	}
	return missing, extra
}

// place is a line of a section in the form in which parse returns it.
func (l Line) place(s Section) string {
	return strings.Join(append(slices.Clone(s.Enter), l.reveal()), "\n")
}

// hide takes a password out of a line of which nothing else is known.
func hide(l string) string {
	before, _, found := strings.Cut(l, " password ")
	if !found {
		return l
	}
	return before + " password [hidden]"
}

// parse reads a configuration as FRR writes it, and returns a text for each of its lines: the
// lines that lead to its section and the line itself, joined by "\n".
func parse(running string) (all []string) {
	var sections []string
	for text := range strings.Lines(running) {
		l := strings.TrimSpace(text)
		if l == "" || l == "!" || l == "end" || l == "exit" || l == "exit-address-family" {
			continue
		}
		depth := len(text) - len(strings.TrimLeft(text, " "))
		sections = append(sections[:min(depth, len(sections))], l)
		all = append(all, strings.Join(sections, "\n"))
	}
	return all
}
