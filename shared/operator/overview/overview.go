// Package overview prints a plan, on one screen or all of it, and how a host differs from it.
package overview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// View is a plan, and what it puts on each role's hosts.
type View struct {
	plan.Plan
	Files map[role.Role][]string `json:"files"`
	// Bootstrap is nil if the bootstrap machine provisions no hosts.
	Bootstrap *Bootstrap `json:"bootstrap,omitempty"`
}

// Of is the view of a plan; paths are the files of a role.
func Of(p plan.Plan, paths func(plan.Plan, role.Role) ([]string, error)) (View, error) {
	v := View{Plan: p, Files: map[role.Role][]string{}, Bootstrap: bootstrap(p)}
	v.LoadBalancer = spec.LoadBalancer(p.Balancer())
	for _, r := range p.Roles() {
		files, err := paths(p, r)
		if err != nil {
			return View{}, err
		}
		v.Files[r] = files
	}
	return v, nil
}

// JSON is all of a plan.
func (v View) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	return append(text, '\n'), nil
}

// YAML is all of a plan, with the keys of JSON in the same order.
func (v View) YAML(width layout.Width) ([]byte, error) {
	text, err := v.JSON()
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	blockStyle(&document)
	foldLong(&document, 0, width)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(&document); err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	// No text of a plan has several lines, so foldLong has made each block: a folded block reads
	// as one line again.
	return bytes.ReplaceAll(out.Bytes(), []byte(" |-\n"), []byte(" >-\n")), enc.Close()
}

// foldLong breaks texts longer than foldFrom into blocks of a terminal's width below their keys.
func foldLong(n *yaml.Node, depth int, width layout.Width) {
	for i, child := range n.Content {
		if child.Kind == yaml.ScalarNode &&
			utf8.RuneCountInString(child.Value)+2*depth > foldFrom &&
			!strings.Contains(child.Value, "  ") && (n.Kind != yaml.MappingNode || i%2 == 1) {
			indent := strings.Repeat(" ", 2*depth+4) // of the block, at the most
			lines := strings.Split(width.Break(indent, indent, child.Value), "\n"+indent)
			child.Value = strings.TrimSpace(strings.Join(lines, "\n"))
			child.Style = yaml.LiteralStyle
			continue
		}
		foldLong(child, depth+1, width)
	}
}

// foldFrom is how many columns a text and its indent may have beside its key.
const foldFrom = 70

// blockStyle removes JSON's braces and quotes. The encoder quotes texts that would otherwise be of
// another type.
func blockStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		blockStyle(child)
	}
}
