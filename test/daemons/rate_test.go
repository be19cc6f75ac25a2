package daemons

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// former is a node's Corefile as OpenShift's nodes of today have it, in what it does: one server block, a cache in front of everything, and a pair of
// templates for each of the cluster's names.
const former = `.:53 {
    errors
    bufsize 512
    health :18080
    forward . 198.51.100.1 {
        policy sequential
    }
    cache 30
    reload
    template IN A ostest.example.com {
        match .*[.]apps.ostest.example.com
        answer "{{ .Name }} 60 IN A 192.0.2.6"
        fallthrough
    }
    template IN AAAA ostest.example.com {
        match .*[.]apps.ostest.example.com
        fallthrough
    }
    template IN A ostest.example.com {
        match ^api.ostest.example.com
        answer "{{ .Name }} 60 IN A 192.0.2.5"
        fallthrough
    }
    template IN AAAA ostest.example.com {
        match ^api.ostest.example.com
        fallthrough
    }
    template IN A ostest.example.com {
        match ^api-int.ostest.example.com
        answer "{{ .Name }} 60 IN A 192.0.2.5"
        fallthrough
    }
    template IN AAAA ostest.example.com {
        match ^api-int.ostest.example.com
        fallthrough
    }
    hosts {
        192.0.2.10 master-0 master-0.ostest.example.com
        192.0.2.11 master-1 master-1.ostest.example.com
        fallthrough
    }
}
`

// class is a kind of record, as a file for dnsperf.
type class struct{ name, queries string }

func classes() []class {
	return []class{
		{"api", "api-int.ostest.example.com A\n"},
		{"api without data", "api-int.ostest.example.com AAAA\n"},
		{"apps", "console.apps.ostest.example.com A\na.b.apps.ostest.example.com A\n"},
		{"node", "master-0.ostest.example.com A\nmaster-1.ostest.example.com A\n"},
		{"short name of a node", "master-0 A\nmaster-1 A\n"},
		{"address of a node", "10.2.0.192.in-addr.arpa PTR\n"},
	}
}

var (
	perSecond = regexp.MustCompile(`Queries per second:\s+([0-9.]+)`)
	lost      = regexp.MustCompile(`Queries lost:\s+([0-9]+)`)
	latency   = regexp.MustCompile(`(?m)^> NOERROR \S+ \S+ ([0-9.]+)`)
)

// perf asks for a class of records as fast as answers come, or at a rate, and returns what dnsperf says.
func (c coredns) perf(queries string, args ...string) string {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "queries")
	if err := os.WriteFile(file, []byte(queries), 0o644); err != nil {
		c.t.Fatal(err)
	}
	out, err := c.host.Command(c.t.Context(), "dnsperf", append([]string{"-s", "127.0.0.1", "-d", file, "-c", "4", "-q", "50", "-l", "1"}, args...)...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("dnsperf: %v\n%s", err, out)
	}
	if n := lost.FindSubmatch(out); n == nil || string(n[1]) != "0" {
		c.t.Errorf("%q: answers are lost:\n%s", queries, out)
	}
	return string(out)
}

// rate is how many answers come a second.
func (c coredns) rate(queries string) float64 {
	c.t.Helper()
	out := c.perf(queries)
	n := perSecond.FindStringSubmatch(out)
	if n == nil {
		c.t.Fatalf("dnsperf says no rate:\n%s", out)
	}
	rate, err := strconv.ParseFloat(n[1], 64)
	if err != nil {
		c.t.Fatal(err)
	}
	return rate
}

// p99 is after how many milliseconds 99 of 100 answers are there, at 1000 questions a second.
func (c coredns) p99(queries string) float64 {
	c.t.Helper()
	var all []float64
	for _, n := range latency.FindAllStringSubmatch(c.perf(queries, "-v", "-Q", "1000"), -1) {
		seconds, err := strconv.ParseFloat(n[1], 64)
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, 1000*seconds)
	}
	if len(all) < 100 {
		c.t.Fatalf("%q: %d answers", queries, len(all))
	}
	slices.Sort(all)
	return all[len(all)*99/100]
}

// median is that of an odd number of values.
func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// TestLongRate measures our CoreDNS with a node's Corefile beside stock CoreDNS with that of today's nodes, in turns. The figures are for people: who
// else uses the machine meanwhile uses it in both.
func TestLongRate(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes a minute: ONPREM_INFRA_LONG=1 asks for it")
	}
	need.Command(t, "dnsperf")
	l := lab.New(t)
	config := corefile.Config{Zone: zone, Records: record.Cluster(zone, addresses([]string{"192.0.2.5"}), addresses([]string{"192.0.2.6"})), Hosts: true,
		Upstreams: addresses([]string{"198.51.100.1"}), HealthPort: 18080, Announced: &corefile.Announced{Cluster: "ostest", Members: 3}}
	before, now := serve(t, add(t, l, "before", "192.0.2.30/24"), []byte(former)), serveBy(t, add(t, l, "now", "192.0.2.31/24"), ours(t), corefile.Render(config))
	now.name(corefile.Host{Short: "master-0", Addresses: addresses([]string{"192.0.2.10"})}, corefile.Host{Short: "master-1", Addresses: addresses([]string{"192.0.2.11"})})
	for deadline := time.Now().Add(20 * time.Second); len(now.query("master-1.ostest.example.com.", dns.TypeA).Answer) != 1; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the names of nodes are not read")
		}
	}
	for _, class := range classes() {
		var rates, slow [2][]float64
		for range 5 {
			for i, server := range []coredns{before, now} {
				rates[i], slow[i] = append(rates[i], server.rate(class.queries)), append(slow[i], server.p99(class.queries))
			}
		}
		fmt.Printf("%-22s before %7.0f/s p99 %.2f ms   now %7.0f/s p99 %.2f ms   ratio %.2f\n", class.name,
			median(rates[0]), median(slow[0]), median(rates[1]), median(slow[1]), median(rates[1])/median(rates[0]))
	}
}
