package daemons

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// formerNode and formerBootstrap are the Corefiles of today's OpenShift, in what they do: one
// server block, a cache in front of everything, and a pair of templates for each of the cluster's
// names.
const (
	formerNode = `.:53 {
    errors
    bufsize 512
` + formerNames + `    hosts {
        192.0.2.10 master-0 master-0.ostest.example.com
        192.0.2.11 master-1 master-1.ostest.example.com
        fallthrough
    }
}
`
	formerBootstrap = `.:53 {
    errors
` + formerNames + `}
`
	formerNames = `    health :18080
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
`
)

// class is a kind of record, as a file for dnsperf.
type class struct{ name, queries string }

// clusters are the classes of what every Corefile answers, nodes those of what is known of nodes.
func clusters() []class {
	return []class{
		{"api-int", "api-int.ostest.example.com A\n"},
		{"api-int without data", "api-int.ostest.example.com AAAA\n"},
		{"apps", "console.apps.ostest.example.com A\na.b.apps.ostest.example.com A\n"},
		{"forwarded", "tag.forwarded.example TXT\n"},
	}
}

func nodes() []class {
	return []class{
		{"node", "master-0.ostest.example.com A\nmaster-1.ostest.example.com A\n"},
		{"node without data", "master-0.ostest.example.com AAAA\n"},
		{"short name of a node", "master-0 A\nmaster-1 A\n"},
		{"address of a node", "10.2.0.192.in-addr.arpa PTR\n"},
	}
}

var (
	perSecond = regexp.MustCompile(`Queries per second:\s+([0-9.]+)`)
	lost      = regexp.MustCompile(`Queries lost:\s+([0-9]+)`)
	latency   = regexp.MustCompile(`(?m)^> NOERROR \S+ \S+ ([0-9.]+)`)
)

// perf asks for a class of records as fast as answers come, or at a rate, and returns what dnsperf
// says.
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

// slower is the ratio of answers for the same processor time below which ours is slower than
// today's, and slowerSOA the same where ours says by an SOA for how long there is no data (RFC
// 2308), and today's says nothing: 0.8 was measured.
const slower, slowerSOA = 0.9, 0.7

// TestLongRate measures our CoreDNS with a node's and the bootstrap machine's Corefile beside stock
// CoreDNS with today's, in turns: who else uses the machine meanwhile uses it in both. How many
// answers come a second is for people, as others may use the machine in one turn more than in
// another; how much processor time an answer takes is judged.
func TestLongRate(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes three minutes: ONPREM_INFRA_LONG=1 asks for it")
	}
	need.Command(t, "dnsperf")
	l, own := lab.New(t), ours(t)
	serveDNS(t, add(t, l, "upstream", "198.51.100.1/24"), "upstream", "198.51.100.1:53")
	bootstrap := config([]string{"192.0.2.5"}, []string{"192.0.2.6"}, "198.51.100.1")
	bootstrap.Poll = false
	node := bootstrap
	node.Hosts, node.Announced = true, &corefile.Announced{Cluster: "ostest", Members: 3}
	announced := bootstrap
	announced.Announced = node.Announced
	for i, tt := range []struct {
		name    string
		before  string
		now     corefile.Config
		classes []class
	}{
		{"node", formerNode, node, slices.Concat(clusters(), nodes())},
		{"bootstrap machine", formerBootstrap, bootstrap, clusters()},
		{"bootstrap machine that hears nodes", formerBootstrap, announced, clusters()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := serve(t, add(t, l, fmt.Sprint("before", i), fmt.Sprintf("198.51.100.%d/24", 30+i)), []byte(tt.before))
			now := serveBy(t, add(t, l, fmt.Sprint("now", i), fmt.Sprintf("198.51.100.%d/24", 40+i)), own, corefile.Render(tt.now))
			if tt.now.Hosts {
				now.names()
			}
			for _, class := range tt.classes {
				beside(t, before, now, class)
			}
		})
	}
}

// names gives a server the nodes that formerNode has.
func (c coredns) names() {
	c.t.Helper()
	c.name(corefile.Host{Short: "master-0", Addresses: addresses([]string{"192.0.2.10"})}, corefile.Host{Short: "master-1", Addresses: addresses([]string{"192.0.2.11"})})
	for _, name := range []string{"master-1.ostest.example.com.", "master-1."} {
		for deadline := time.Now().Add(20 * time.Second); len(c.query(name, dns.TypeA).Answer) != 1; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				c.t.Fatal("the names of nodes are not read")
			}
		}
	}
}

// beside measures a class of both servers in turns.
func beside(t *testing.T, before, now coredns, class class) {
	t.Helper()
	var rates, slow, costs [2][]float64
	for round := range 5 {
		for i, server := range []coredns{before, now} {
			spent := server.spent()
			rate := server.rate(class.queries) // for a second
			rates[i], costs[i] = append(rates[i], rate), append(costs[i], (server.spent()-spent).Seconds()*1e6/rate)
			if round < 3 {
				slow[i] = append(slow[i], server.p99(class.queries))
			}
		}
	}
	ratio := median(costs[0]) / median(costs[1])
	fmt.Printf("%-22s before %7.0f/s %5.1f µs p99 %5.2f ms   now %7.0f/s %5.1f µs p99 %5.2f ms   ratio %.2f, for the same processor time %.2f\n", class.name,
		median(rates[0]), median(costs[0]), median(slow[0]), median(rates[1]), median(costs[1]), median(slow[1]), median(rates[1])/median(rates[0]), ratio)
	least := slower
	if strings.HasSuffix(class.name, "without data") {
		least = slowerSOA
	}
	if ratio < least {
		t.Errorf("%s: for the same processor time %.2f times as many answers as by today's", class.name, ratio)
	}
}

// spent is the processor time that the server has used, in ticks of 10 ms.
func (c coredns) spent() time.Duration {
	c.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.pid))
	if err != nil {
		c.t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):])) // the first one is the name's end
	sum := 0
	for _, field := range fields[12:14] { // in user mode and in the kernel
		ticks, err := strconv.Atoi(field)
		if err != nil {
			c.t.Fatal(err)
		}
		sum += ticks
	}
	return time.Duration(sum) * 10 * time.Millisecond
}
