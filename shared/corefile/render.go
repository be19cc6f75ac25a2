package corefile

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"text/template"

	"github.com/onprem-infra/onprem-infra/shared/comment"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

//go:embed Corefile.tmpl
var text string

var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("Corefile").Parse(text))
})

// What CoreDNS's template plugin makes its answers from. The owner is the name of the query, in
// lower case. The SOA lets resolvers keep a negative answer (RFC 2308 5) for half a minute. Its
// mailbox does not exist: the zone is known here only in part.
const (
	owner   = "{{ .Name }} 30 IN "
	mailbox = "nobody.invalid."
	soa     = "{{ .Zone }} 30 IN SOA {{ .Zone }} " + mailbox + " 1 3600 1200 604800 30"
)

// page is what Corefile.tmpl is executed with.
type page struct {
	Header     string
	HealthPort uint16
	Poll       bool
	Clients    []netip.Prefix
	Zone       record.Name
	SOA        string
	Owned      []record.Name // the owned names, and those that owned wildcards are below
	Patterns   []string      // every owned name
	Answers    []answer
	Nodes      bool  // nodes have names
	Announced  bool  // some of them by what they announce
	Inside     block // for the names in Zone, where nodes have names
	Outside    block // for all others
	Running    record.Name
	Digest     string
}

// block is what comes after the owned names.
type block struct {
	HostsPath string // empty: nodes have no names
	MDNS      string // what follows the directive; empty: without multicast DNS
	Networks  []netip.Prefix
	To        []string
}

// Last reports whether nothing comes after the names of nodes.
func (b block) Last() bool { return (b.HostsPath != "" || b.MDNS != "") && len(b.To) == 0 }

// Passes reports whether something comes after the nodes' file.
func (b block) Passes() bool { return b.MDNS != "" || len(b.To) > 0 }

// answer is what one name has in one family.
type answer struct{ Type, Pattern, RR string }

// Render writes the Corefile. Equal values give equal bytes.
//
// What the text relies on, of CoreDNS 1.15 and before:
//   - Plugins run in CoreDNS's own order: bufsize, health, errors, cache, template, hosts, forward.
//     So the cache answers first, and no client gets a TTL above 30 s. The stanzas of template are
//     tried in the order written; the first that matches answers.
//   - A query for ANY matches a stanza of any type, so the first one must be one of negative
//     answers: the one for HTTPS, which browsers query. A stanza for ANY matches a query of any
//     type, so the last one answers for every type and family without an answer.
//   - Names in the zone that are not owned fall through to the upstreams: without fallthrough the
//     plugin would fail them.
//   - Upstreams are queried in order: the first one gets all queries while it is healthy. Of more
//     than 1000 queries on their way to them the last are refused, which ends those that go round
//     between hosts: without it one such query is forwarded for ever, in two hosts that name each
//     other, by most of a processor and 450 MB each.
//   - With Hosts the zone has a server block of its own, without a cache: a cache would keep the
//     answer that a node does not exist. CoreDNS takes the block with the longest matching zone.
//     The hosts plugin checks its file every 500 ms, by time and size, so another set of nodes is
//     in force without a reload. Its TTL is 1 s, the shortest that it knows. The last block has the
//     file for the nodes' short names and for the names of their addresses.
//   - There the owned names have a block as well, with a cache: an answer of template costs several
//     times as much as one of the cache, and a node's name is not compared with each of them. A
//     cache for all names costs less than one that compares each with its zones, and no other name
//     comes here. The names of nodes are in that block for a node that has an owned name, or a
//     name below one.
//   - What nodes announce comes after the file, so that the API has priority; the plugin has its
//     own place behind hosts. Its names are in the block without a cache as well: a host may
//     withdraw its name at any time. If a server knows all names, it is queried instead, and does
//     the same: else the local announcements would have priority over the API. A template that
//     fails everything would do so before the announcements are consulted.
//   - A node's name has no records but addresses: hosts answers any other type, and the family that
//     the node lacks, with no data.
//   - Without upstreams everything else fails, which sends clients to their next server. Without
//     the template CoreDNS would log an error a query. A template that fails everything would do so
//     before hosts is consulted. So with Hosts it is hosts that fails an unknown name, if it may
//     not fall through. It passes an unknown address on all the same, and CoreDNS's log of that is
//     limited to a line in 5 min.
//   - Clients without EDNS get no answer above 512 bytes over UDP, and with a bufsize of 512 no
//     other client does: large answers were lost on their way to clients.
//   - With Poll the file is checked every 2 s: after a change of the upstreams the next query
//     should not go to the former ones. The first SIGUSR1 ends that for good, and one during a
//     reload by the plugin makes it reload the former file: use one or the other.
//   - A reload loses no query: the new configuration takes over the sockets, and the former one may
//     end what it has begun. It first closes the health plugin's server, which takes 5 s if a
//     connection to it has just been opened without a request. The plugin opens such a connection
//     itself, a second after each reload, and keeps it. So with a HealthPort a reload takes 5 s if
//     it comes just a second after another one; 2 of 40 did, and no earlier or later one.
//   - acl comes before the cache and all answers. A client that may not query gets REFUSED, and
//     never an answer for another client.
//   - If CoreDNS refuses a file, the former one stays in force, and only the log shows it. So each
//     file answers for a name of its own, see Running. Its block answers nothing else, and has no
//     cache, which would outlive the file. CoreDNS refuses questions of class CH, in which servers
//     report about themselves, unless it has the plugin chaos. The block is not the last: if a
//     plugin's block ends the file, CoreDNS does not detect a missing brace after it.
func Render(c Config) []byte {
	p := parts(c)
	p.Digest, _ = Digest(execute(p))
	return execute(p)
}

// Running is a name for which CoreDNS answers by a TXT record with the Digest of the Corefile that
// it runs on. No other server has it: .invalid is reserved (RFC 6761 6.4).
const Running record.Name = "corefile.onprem-infra.invalid"

// digested is what begins the line of a Corefile that has its digest.
const digested = `        answer "{{ .Name }} 0 IN TXT `

// Digest names a Corefile, whoever has written it: the SHA-256 of all but the line that has it, cut
// to 12 digits. embedded is what that line has, and empty where there is none: the two differ in a
// file that was changed since it was rendered.
func Digest(text []byte) (is, embedded string) {
	sum := sha256.New()
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(digested)); ok {
			embedded = string(bytes.TrimRight(rest, "\"\n"))
		} else {
			sum.Write(line)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:12], embedded
}

func execute(p page) []byte {
	var out bytes.Buffer
	if err := parsed().Execute(&out, p); err != nil {
		// The template prints values and calls nothing: only a wrong template comes here.
		panic(fmt.Sprintf("render Corefile: %v", err))
	}
	return out.Bytes()
}

// parts are the page of a Config, without its digest.
func parts(c Config) page {
	p := page{Running: Running, Header: comment.Text(c.Header), HealthPort: c.HealthPort,
		Poll: c.Poll, Clients: c.Clients, Zone: c.Zone, SOA: soa}
	for _, r := range c.Records {
		p.Owned, p.Patterns = append(p.Owned, r.Name), append(p.Patterns, pattern(r))
		for _, a := range r.Addresses {
			kind := "AAAA"
			if a.Is4() {
				kind = "A"
			}
			rr := owner + kind + " " + a.WithZone("").String()
			p.Answers = append(p.Answers, answer{Type: kind, Pattern: pattern(r), RR: rr})
		}
	}
	for _, a := range c.Upstreams {
		p.Outside.To = append(p.Outside.To, upstream(a))
	}
	p.Nodes, p.Announced = c.Hosts || c.Announced != nil, c.Announced != nil
	if !p.Nodes {
		return p
	}
	for _, a := range c.Knowing {
		p.Inside.To = append(p.Inside.To, upstream(a))
	}
	p.Inside.To = append(p.Inside.To, p.Outside.To...)
	p.Inside.To = p.Inside.To[:min(len(p.Inside.To), MaxForward)]
	if c.Hosts {
		p.Inside.HostsPath, p.Outside.HostsPath = HostsPath, HostsPath
	}
	if c.Announced != nil {
		p.Outside.MDNS, p.Outside.Networks = c.Announced.directive(c.Zone), c.Announced.Networks
		if len(c.Knowing) == 0 {
			p.Inside.MDNS, p.Inside.Networks = p.Outside.MDNS, p.Outside.Networks
		}
	}
	return p
}

// directive is what the plugin's directive is followed by, but for the networks.
func (a Announced) directive(zone record.Name) string {
	words := fmt.Sprintf("%s %d %s", zone, max(a.Members, 0), a.Cluster)
	if a.On.IsValid() {
		words += " " + a.On.WithZone("").String()
	}
	return words
}

// pattern matches the record's names and no other, against a name in lower case with the final dot.
// A label below a wildcard may hold a dot of its own, written as \. by CoreDNS: such a label is
// matched by nothing, as it could pass for two.
func pattern(r record.Record) string {
	name := regexp.QuoteMeta(string(r.Name)) + `\.$`
	if r.Wildcard {
		return `^([^.\\]+\.)+` + name
	}
	return "^" + name
}

// upstream drops a zone that is no interface name: an address may carry any text as its zone.
func upstream(a netip.Addr) string {
	if strings.Trim(a.Zone(),
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
		a = a.WithZone("")
	}
	return a.String()
}
