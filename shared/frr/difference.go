package frr

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// Command is one command for a daemon.
type Command struct {
	Text   string
	Secret secret.Text // the last word, if that is one
	// Section reports whether the command enters a section, in which the next commands are.
	Section bool
}

// String is the command for people: without its secret.
func (c Command) String() string { return Line{Text: c.Text, Secret: c.Secret}.String() }

// Reveal is the command for the daemon.
func (c Command) Reveal() string { return Line{Text: c.Text, Secret: c.Secret}.reveal() }

// Difference are the commands that change one configuration of a daemon into another, in their
// order; none if there is nothing to change. Sessions that both have stay established. A list,
// map or profile is made before the lines that name it, and removed after them.
func Difference(d Daemon, from, to Config) []Command {
	have, b := from.Sections(d), &batch{}
	if d == BGP && len(have) > 0 && from.ASN != to.ASN { // a daemon has one number
		b.add(from.router()[0].Gone)
		have = slices.DeleteFunc(have, func(s Section) bool { return inRouter(s) })
	}
	return b.lead(have, to.Sections(d))
}

// Repair are the commands, in their order, for the lines of a configuration that a daemon's
// running configuration ("show running-config") lacks; none if it has all.
func Repair(d Daemon, c Config, running string) []Command {
	has, want := parse(running), c.Sections(d)
	have := c.Sections(d)
	for i := range have {
		s := &have[i]
		s.Lines = slices.DeleteFunc(slices.Clone(s.Lines), func(l Line) bool {
			return !slices.Contains(has, l.place(*s))
		})
	}
	return new(batch).lead(have, want)
}

// lead makes the commands that lead from sections to others.
func (b *batch) lead(have, want []Section) []Command {
	for _, s := range want {
		b.enrich(s, have)
	}
	for _, s := range slices.Backward(have) {
		b.reduce(s, want)
	}
	b.open(want)
	if len(b.commands) == 0 {
		return nil
	}
	all := append([]Command{{Text: "configure terminal", Section: true}}, b.commands...)
	all = append(all, Command{Text: "end"})
	for _, family := range []string{"ipv4", "ipv6"} {
		// A daemon applies a changed map only seconds later.
		if b.maps && slices.ContainsFunc(want, func(s Section) bool {
			return len(s.Enter) == 2 && strings.Contains(s.Enter[1], family)
		}) {
			all = append(all, Command{Text: "clear bgp " + family + " unicast * soft"})
		}
	}
	return all
}

// Configure are the commands for a daemon that has just started.
func Configure(d Daemon, c Config) []Command { return Difference(d, Config{}, c) }

func inRouter(s Section) bool {
	return len(s.Enter) > 0 && strings.HasPrefix(s.Enter[0], "router bgp ")
}

// named is the section of that name.
func named(of []Section, name string) (s Section, ok bool) {
	i := slices.IndexFunc(of, func(s Section) bool { return s.Name == name })
	if i < 0 {
		return s, false
	}
	return of[i], true
}

// batch are commands in the making.
type batch struct {
	commands []Command
	maps     bool     // a map has changed
	made     []string // names of new sessions, which are shut down until open
}

func (b *batch) add(text string) { b.commands = append(b.commands, Command{Text: text}) }

// enrich adds what a section has and the former one has not.
func (b *batch) enrich(s Section, have []Section) {
	former, known := named(have, s.Name)
	var missing []Line
	for _, l := range s.Lines {
		if !slices.ContainsFunc(former.Lines, func(f Line) bool {
			return f.reveal() == l.reveal()
		}) {
			missing = append(missing, l)
		}
	}
	if len(missing) == 0 && (known || len(s.Enter) == 0) {
		return
	}
	b.enter(s)
	for _, l := range missing {
		for _, f := range former.Lines {
			if f.Key == l.Key && !strings.HasPrefix(l.Text, l.Key) {
				b.add(f.undo())
			}
		}
		b.commands = append(b.commands, Command{Text: l.Text, Secret: l.Secret})
		for _, text := range l.Then {
			b.add(text)
		}
		if name, ok := session(l); ok && !slices.ContainsFunc(former.Lines, func(f Line) bool {
			return f.Key == l.Key
		}) {
			b.add("neighbor " + name + " shutdown")
			b.made = append(b.made, name)
		}
	}
	b.leave(s)
}

// open starts the new sessions, which were made shut down. If one began before it has its
// families, the router would end it, and the next attempt would be a second later.
func (b *batch) open(want []Section) {
	if len(b.made) == 0 {
		return
	}
	i := slices.IndexFunc(want, inRouter)
	b.enter(want[i])
	for _, name := range b.made {
		b.add("no neighbor " + name + " shutdown")
	}
	b.leave(want[i])
}

// reduce removes what a section has and the wanted one has not.
func (b *batch) reduce(s Section, wanted []Section) {
	want, kept := named(wanted, s.Name)
	if !kept && s.Gone != "" {
		b.enter(Section{Name: s.Name})
		b.add(s.Gone)
		return
	}
	gone := slices.DeleteFunc(slices.Clone(s.Lines), func(l Line) bool {
		return slices.ContainsFunc(want.Lines, func(w Line) bool { return w.Key == l.Key })
	})
	gone = withoutSessions(gone, wanted)
	if len(gone) == 0 {
		return
	}
	b.enter(s)
	for _, l := range slices.Backward(gone) {
		b.add(l.undo())
	}
	b.leave(s)
}

// withoutSessions leaves out the lines of sessions that are removed as a whole: the command that
// removes one removes all its lines, and FRR does not know them after that.
func withoutSessions(gone []Line, wanted []Section) (rest []Line) {
	var kept []string // names of sessions
	for _, s := range wanted {
		for _, l := range s.Lines {
			if name, ok := session(l); ok {
				kept = append(kept, name)
			}
		}
	}
	for _, l := range gone {
		words := strings.Fields(l.Key)
		if _, made := session(l); words[0] == "neighbor" && !made &&
			!slices.Contains(kept, words[1]) {
			continue
		}
		rest = append(rest, l)
	}
	return rest
}

// session is the session that a line makes.
func session(l Line) (name string, ok bool) {
	rest, ok := strings.CutPrefix(l.Key, "neighbor ")
	name, is := strings.CutSuffix(rest, " remote-as")
	return strings.TrimSuffix(name, " interface"), ok && is
}

func (b *batch) enter(s Section) {
	b.maps = b.maps || strings.HasPrefix(s.Name, "route-map ")
	for _, enter := range s.Enter {
		b.commands = append(b.commands, Command{Text: enter, Section: true})
	}
}

func (b *batch) leave(s Section) {
	for range s.Enter {
		b.add("exit")
	}
}
