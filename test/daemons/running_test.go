package daemons

import (
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// runs is what CoreDNS says of the Corefile that it runs on; empty when it says nothing.
func (c coredns) runs() string {
	c.t.Helper()
	for _, r := range c.query(string(corefile.Running)+".", dns.TypeTXT).Answer {
		if r, ok := r.(*dns.TXT); ok {
			return strings.Join(r.Txt, "")
		}
	}
	return ""
}

// TestCoreDNS_ReportsItsCorefile holds that stock CoreDNS and ours say by which Corefile they answer:
// another one once they have read it, and the former one where they refuse the new one.
func TestCoreDNS_ReportsItsCorefile(t *testing.T) {
	for name, path := range map[string]string{"stock": program(t), "ours": ours(t)} {
		t.Run(name, func(t *testing.T) {
			first, second := signalled("198.51.100.1"), signalled("198.51.100.2")
			first.HealthPort, second.HealthPort, second.Hosts = 18080, 18080, true
			c := serveBy(t, add(t, lab.New(t), "node"), path, corefile.Render(first))
			reloads := func(what string, text []byte, done func() bool) {
				t.Helper()
				c.write(text)
				for range 3 { // a signal is lost that comes before CoreDNS has asked for it
					c.reload()
					for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
						if done() {
							return
						}
					}
				}
				t.Fatalf("%s: it says %q, and in its log\n%s", what, c.runs(), c.output())
			}
			former, _ := corefile.Digest(corefile.Render(first))
			if got := c.runs(); got != former {
				t.Errorf("it says %q, and runs on %q", got, former)
			}
			next, _ := corefile.Digest(corefile.Render(second))
			reloads("another one", corefile.Render(second), func() bool { return c.runs() == next })
			time.Sleep(1500 * time.Millisecond) // a reload a second after another may take five: see corefile.Render
			reloads("a wrong one", append(corefile.Render(first), "nonsense {\n"...), func() bool { return strings.Contains(c.output(), "[ERROR]") })
			if got := c.runs(); got != next {
				t.Errorf("it has refused a file, and says %q instead of %q", got, next)
			}
			if other := c.query(string(corefile.Running)+".", dns.TypeA); len(other.Answer) > 0 {
				t.Errorf("it has an address for %s: %v", corefile.Running, other.Answer)
			}
		})
	}
}
