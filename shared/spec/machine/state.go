package machine

import (
	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// state is the network configuration of a host for nmstate. It is passed on: only those fields
// are read in which a mistake cuts a host off before it can report the mistake.
type state struct {
	at document.Place
	*content
}

// content is what a state has. One may stand for many hosts, and is then read and checked once.
type content struct {
	text    secret.Text
	cards   []card
	checked bool
}

// card is an interface of a state.
type card struct {
	name, mac document.Scalar[string]
	mtu       document.Value
}

// maxCards is far above the interfaces of a host, so that rules about them stay cheap.
const maxCards = 64

// state reads a state. Known are those that have been read already.
func (f fields) state(v document.Value, known map[*yaml.Node]*content) state {
	o := f.Map(v)
	s := state{at: o.At}
	if !o.Given {
		return s
	}
	if s.content = known[v.Target()]; s.content != nil {
		return s
	}
	s.content = &content{text: f.textOf(v.Target())}
	interfaces, _ := f.List(o.Get("interfaces"))
	for _, e := range interfaces[:min(len(interfaces), maxCards)] {
		i := f.Map(e)
		s.cards = append(s.cards, card{f.Text(i.Get("name")), f.Text(i.Get("mac-address")),
			i.Get("mtu")})
	}
	known[v.Target()] = s.content
	return s
}

// textOf is a state as a document of its own. It is empty if the document has errors: then only
// findings count, and aliases may unfold without an end.
func (f fields) textOf(n *yaml.Node) secret.Text {
	if f.Findings.HasErrors() {
		return secret.Text{}
	}
	out, err := yaml.Marshal(unfolded(n))
	if err != nil {
		return secret.Text{}
	}
	return secret.New(string(out))
}

// unfolded is a value with each alias replaced by what it stands for, and without comments.
func unfolded(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	own := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}
	if n.Kind == yaml.ScalarNode {
		own.Style = n.Style
	}
	for _, child := range n.Content {
		own.Content = append(own.Content, unfolded(child))
	}
	return own
}

// check reports what nmstate refuses in the ramdisk, where no one sees it, and a state without the
// card that boots. The names in it are not repeated: a password may have slipped there.
func (s state) check(r *document.Report, boot mac.MAC, provisioning string) {
	if s.content == nil {
		return
	}
	booted := false
	for _, c := range s.cards {
		m, err := mac.Parse(c.mac.Value)
		booted = booted || err == nil && m == boot ||
			provisioning != "" && c.name.Value == provisioning
	}
	if !booted && boot.IsCard() {
		r.Warnf(s.at, "no interface in it has the MAC of the card that boots, %s: write it as "+
			"mac-address of that card's interface", boot)
	}
	if !s.checked {
		s.checked = true
		s.checkCards(r)
	}
}

func (c *content) checkCards(r *document.Report) {
	names := map[string]int{}
	for _, c := range c.cards {
		if line, twice := names[c.name.Value]; twice && c.name.OK {
			r.Errorf(c.name.At, "is another interface's name too, at line %d: give each "+
				"interface its own", line)
		}
		names[c.name.Value] = c.name.At.Line
		if _, err := mac.Parse(c.mac.Value); c.mac.OK && err != nil {
			r.Errorf(c.mac.At, "%v", err)
		}
		c.checkMTU(r)
	}
}

func (c card) checkMTU(r *document.Report) {
	if c.mtu.Node == nil {
		return
	}
	var n int
	node := c.mtu.Target()
	if node.ShortTag() != "!!int" || node.Decode(&n) != nil || n < 1 {
		r.Errorf(c.mtu.At, "nmstate takes a whole number here: write one without quotes, such "+
			"as 1500")
	}
}
