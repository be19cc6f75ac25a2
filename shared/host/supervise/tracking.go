package supervise

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// tracking is what an instance's priority follows from.
type tracking struct {
	base  int
	files []tracked
	other bool // it also follows from something else, as from scripts
}

// tracked is a file whose number counts.
type tracked struct {
	path    string
	weight  int
	reverse bool
}

// The least and the highest effective priority, and the product of number and weight that is FAULT.
const (
	leastPriority   = 1
	highestPriority = 254
	faultProduct    = -254
)

// readTracking reads what each instance tracks in a configuration that has one thing on each line,
// and that has keepalived report each change of a priority: else nothing can be compared.
func readTracking(config []byte) map[string]tracking {
	r := trackingReader{all: map[string]tracking{}, files: map[string]tracked{},
		members: map[string][]string{}, names: map[string][]string{}}
	for line := range bytes.Lines(config) {
		if words := strings.Fields(string(line)); len(words) > 0 {
			r.read(words)
		}
	}
	if !r.reported {
		return nil
	}
	for group, members := range r.members {
		for _, member := range members {
			r.names[member] = append(r.names[member], r.names[group]...)
		}
	}
	for name, t := range r.all {
		for _, track := range r.names[name] {
			t.files = append(t.files, r.files[track])
		}
		r.all[name] = t
	}
	return r.all
}

// block is what a line opens that ends with a brace.
type block struct{ kind, name string }

// trackingReader reads line by line.
type trackingReader struct {
	blocks   []block             // that are open
	all      map[string]tracking // by instance
	files    map[string]tracked  // by track
	members  map[string][]string // by sync group
	names    map[string][]string // of tracks, by instance and by sync group
	reported bool
}

func (r *trackingReader) read(words []string) {
	var outer block
	if len(r.blocks) > 0 {
		outer = r.blocks[0]
	}
	switch {
	case words[0] == "}":
		r.blocks = r.blocks[:max(len(r.blocks)-1, 0)]
	case words[len(words)-1] == "{":
		opened := block{kind: words[0]}
		if len(words) > 2 {
			opened.name = words[1]
		}
		r.blocks = append(r.blocks, opened)
		switch {
		case opened.kind == "vrrp_instance":
			r.all[opened.name] = tracking{}
		case opened.kind == "track_script" && outer.kind == "vrrp_instance":
			t := r.all[outer.name]
			t.other = true
			r.all[outer.name] = t
		}
	case outer.kind == "global_defs" && words[0] == "vrrp_notify_priority_changes":
		r.reported = len(words) < 2 || words[1] == "true"
	case len(r.blocks) == 1 && outer.kind == "track_file":
		r.files[outer.name] = r.files[outer.name].read(words)
	case len(r.blocks) == 1 && outer.kind == "vrrp_instance" && words[0] == "priority" && len(words) > 1:
		t := r.all[outer.name]
		t.base, _ = strconv.Atoi(words[1])
		r.all[outer.name] = t
	case len(r.blocks) == 2 && r.blocks[1].kind == "group":
		r.members[outer.name] = append(r.members[outer.name], words[0])
	case len(r.blocks) == 2 && r.blocks[1].kind == "track_file":
		r.names[outer.name] = append(r.names[outer.name], words[0])
	}
}

func (f tracked) read(words []string) tracked {
	switch {
	case words[0] == "file" && len(words) > 1:
		f.path = words[1]
	case words[0] == "weight" && len(words) > 1:
		f.weight, _ = strconv.Atoi(words[1])
		f.reverse = slices.Contains(words, "reverse")
	}
	return f
}

// expected is the priority that follows from the numbers in the files, and whether one of them is a
// fault. A file that is not there, or holds no number, counts as 0.
func (t tracking) expected(number func(path string) int) (priority int, fault bool) {
	priority = t.base
	for _, f := range t.files {
		n := number(f.path)
		if f.weight == 0 {
			fault = fault || (n != 0) != f.reverse
			continue
		}
		product := n * f.weight
		if f.reverse {
			product = -product
		}
		fault = fault || product <= faultProduct
		priority += product
	}
	return min(max(priority, leastPriority), highestPriority), fault
}

// differs says whether what keepalived reports is not what its files say. A daemon that tracks
// nothing is at its base, and FAULT where one of the files is needed; else FAULT has other reasons,
// and the priority that it is reported with may be older.
func (t tracking) differs(is supervised.Instance, number func(path string) int) bool {
	if t.other || len(t.files) == 0 {
		return false
	}
	want, fault := t.expected(number)
	switch is.State {
	case supervised.Backup, supervised.Master:
		return fault || is.Priority != want
	case supervised.Fault:
		return !fault && is.Priority == t.base && want != t.base
	}
	return false
}

// readNumber reads a tracked file as keepalived does.
func readNumber(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return n
}
