package test

import (
	"flag"
	"fmt"
	"go/doc"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

var update = flag.Bool("update", false, "write the generated parts of the documents")

const (
	roomsBegin = "<!-- rooms: generated from the package comments by `go test -tags remote ./test -run Readme -update` -->\n"
	roomsEnd   = "<!-- end of rooms -->\n"
)

// roomMap is the table of rooms in shared/README.md: each package with the first sentence of its
// comment.
func roomMap(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| Room | What lives there |\n|---|---|\n")
	all := append(rooms(t), ownModule(t)...)
	slices.SortFunc(all, func(a, b pkg) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	for _, p := range all {
		_, files := source(t, p)
		for _, f := range files {
			if f.Doc == nil {
				continue
			}
			sentence := strings.TrimSuffix(new(doc.Package).Synopsis(f.Doc.Text()), ".")
			sentence = regexp.MustCompile(`^(Package|Command) \S+ `).ReplaceAllString(sentence, "")
			fmt.Fprintf(&b, "| [`%s`](../%[1]s) | %s |\n", p.room(), strings.ReplaceAll(sentence, "|", `\|`))
		}
	}
	return b.String()
}

// generated holds that what a document has between two markers is what it should be, or writes it.
func generated(t *testing.T, document, begin, end, want string) {
	t.Helper()
	path := filepath.Join("..", document)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	have, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has nothing between the markers %q and %q", document, begin, end)
	}
	if have == want {
		return
	}
	if !*update {
		t.Fatalf("%s: what follows %q is not up to date; run go test -tags remote ./test -run Readme -update", document, begin)
	}
	if err := os.WriteFile(path, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReadmeRooms(t *testing.T) {
	generated(t, "shared/README.md", roomsBegin, roomsEnd, roomMap(t))
}

const (
	boundsBegin = "<!-- bounds: generated from the plan by `go test -tags remote ./test -run Readme -update` -->\n"
	boundsEnd   = "<!-- end of bounds -->\n"
)

// boundTable is the table of what each failure takes at most, under each timing profile: on OpenShift,
// and where a cluster of another Kubernetes differs, also on that.
func boundTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| | failure |")
	for _, timing := range vrrp.Profiles() {
		fmt.Fprintf(&b, " `%s` |", timing.Profile)
	}
	fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat("---|", len(vrrp.Profiles())))
	failures, openShift := boundRows(t, spec.BareMetal, spec.OpenShift)
	_, other := boundRows(t, spec.None, spec.Kubernetes)
	for _, f := range failures {
		fmt.Fprintf(&b, "| `%s` | %s |%s\n", f.Scenario, f.Failure, openShift[f.Scenario])
		if other[f.Scenario] != openShift[f.Scenario] {
			fmt.Fprintf(&b, "| | the same, not on OpenShift |%s\n", other[f.Scenario])
		}
	}
	return b.String()
}

// boundRows are the failures of a cluster's plan, and the columns of each by its scenario.
func boundRows(t *testing.T, platform spec.Platform, distribution spec.Distribution) (failures []bound.Bound, columns map[string]string) {
	t.Helper()
	columns = map[string]string{}
	for _, timing := range vrrp.Profiles() {
		p, err := plan.Compile(spec.Cluster{
			Name: "ostest", BaseDomain: "example.com", Platform: platform, Distribution: distribution, Timing: timing.Profile, TimingProof: map[string]uint32{"a": 900, "b": 900, "c": 900},
			MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
			APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
		})
		if err != nil {
			t.Fatal(err)
		}
		failures = p.Timing.Bounds
		for _, b := range failures {
			if b.DarkMs == b.Ms {
				columns[b.Scenario] += fmt.Sprintf(" %d |", b.Ms)
			} else {
				columns[b.Scenario] += fmt.Sprintf(" %d (%d) |", b.Ms, b.DarkMs)
			}
		}
	}
	return failures, columns
}

func TestReadmeBounds(t *testing.T) {
	generated(t, "cluster/README.md", boundsBegin, boundsEnd, boundTable(t))
}

// TestReadmeDependencies holds that every direct dependency has its line on why it is there, and no
// line outlives its dependency.
func TestReadmeDependencies(t *testing.T) {
	mod, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var direct []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) {
		direct = append(direct, m[1])
	}
	readme, err := os.ReadFile(filepath.Join("..", "shared", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Dependencies\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var stated []string
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`: .{20,}").FindAllStringSubmatch(section, -1) {
		stated = append(stated, m[1])
	}
	slices.Sort(direct)
	slices.Sort(stated)
	if !slices.Equal(direct, stated) {
		t.Errorf("shared/README.md explains the dependencies\n%s\ngo.mod requires directly\n%s", strings.Join(stated, "\n"), strings.Join(direct, "\n"))
	}
}
