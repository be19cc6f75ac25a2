package daemons

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

const zone = record.Name("ostest.example.com")

// coredns is CoreDNS on a host, ended with the test.
type coredns struct {
	t     *testing.T
	host  *lab.Host
	conf  string
	hosts string // stands for corefile.HostsPath
	log   string
	pid   int
}

func program(t *testing.T) string {
	t.Helper()
	need.Root(t)
	path, err := cache.CoreDNS(t.Context())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs CoreDNS: %v", err))
	}
	return path
}

// serve runs stock CoreDNS until the test ends, and returns when it answers on all its ports.
func serve(t *testing.T, host *lab.Host, text []byte) coredns {
	t.Helper()
	return serveBy(t, host, program(t), text)
}

// serveBy is serve for any CoreDNS.
func serveBy(t *testing.T, host *lab.Host, path string, text []byte) coredns {
	t.Helper()
	dir := t.TempDir()
	c := coredns{t: t, host: host, conf: filepath.Join(dir, "Corefile"), hosts: filepath.Join(dir, "hosts"), log: filepath.Join(dir, "log")}
	c.name()
	c.write(text)
	log, err := os.Create(c.log)
	if err != nil {
		t.Fatal(err)
	}
	cmd := host.Command(context.WithoutCancel(t.Context()), path, "-conf", c.conf)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatalf("start CoreDNS: %v", err)
	}
	c.pid = cmd.Process.Pid // nsenter has become CoreDNS
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may be gone
		_ = cmd.Wait()
		_ = log.Close()
		if t.Failed() {
			t.Logf("CoreDNS says:\n%s", c.output())
		}
	})
	for deadline := time.Now().Add(20 * time.Second); !c.listens() || bytes.Contains(text, []byte("health :")) && !c.healthy(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("CoreDNS does not answer")
		}
	}
	return c
}

func (c coredns) write(text []byte) {
	c.t.Helper()
	c.put(c.conf, bytes.ReplaceAll(text, []byte(corefile.HostsPath), []byte(c.hosts)))
}

// name has these nodes and no others.
func (c coredns) name(hosts ...corefile.Host) {
	c.t.Helper()
	c.put(c.hosts, corefile.RenderHosts("made by a test", zone, hosts))
}

// put replaces a file as a whole: CoreDNS may look at any time.
func (c coredns) put(path string, text []byte) {
	c.t.Helper()
	part := path + ".part"
	if err := os.WriteFile(part, text, 0o644); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(part, path); err != nil {
		c.t.Fatal(err)
	}
}

// reload asks for the file to be read, as our program does.
func (c coredns) reload() {
	c.t.Helper()
	if err := syscall.Kill(c.pid, syscall.SIGUSR1); err != nil {
		c.t.Fatal(err)
	}
}

func (c coredns) output() string {
	text, err := os.ReadFile(c.log)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// listens says whether there is somebody at port 53.
func (c coredns) listens() bool {
	conn, err := c.host.Dial(c.t.Context(), "tcp", "127.0.0.1:53")
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// healthy says whether the health check answers.
func (c coredns) healthy() bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DialContext: c.host.Dial, DisableKeepAlives: true}}
	response, err := client.Get("http://127.0.0.1:18080/health")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body) // the status is the answer
	return response.StatusCode == http.StatusOK
}

// ask sends one query from the host itself.
func (c coredns) ask(query *dns.Msg, network string) *dns.Msg {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 10*time.Second)
	defer cancel()
	conn, err := c.host.Dial(ctx, network, "127.0.0.1:53")
	if err != nil {
		c.t.Fatalf("dial CoreDNS: %v", err)
	}
	defer conn.Close()
	client := dns.Client{Net: network, Timeout: 10 * time.Second, UDPSize: dns.MaxMsgSize}
	reply, _, err := client.ExchangeWithConnContext(ctx, query, &dns.Conn{Conn: conn, UDPSize: dns.MaxMsgSize})
	if err != nil {
		c.t.Fatalf("ask for %s %s: %v", query.Question[0].Name, dns.TypeToString[query.Question[0].Qtype], err)
	}
	return reply
}

// query asks without EDNS over UDP.
func (c coredns) query(name string, kind uint16) *dns.Msg {
	c.t.Helper()
	return c.ask(new(dns.Msg).SetQuestion(name, kind), "udp")
}

// clean fails for every line of the log that is more than information.
func (c coredns) clean() {
	c.t.Helper()
	for line := range strings.Lines(c.output()) {
		if regexp.MustCompile(`(?i)\[(WARNING|ERROR|FATAL)\]|panic|plugin/errors`).MatchString(line) {
			c.t.Errorf("CoreDNS complains: %s", line)
		}
	}
}

// ours builds our CoreDNS.
func ours(t *testing.T) string {
	t.Helper()
	need.Root(t)
	path := filepath.Join(t.TempDir(), "onprem-coredns")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../cmd/onprem-coredns", "-trimpath", "-ldflags=-s -w", "-o", path)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	return path
}

// TestCoreDNSAccepts has stock CoreDNS read every Corefile but those for ours alone, and ours every
// one.
func TestCoreDNSAccepts(t *testing.T) {
	own := ours(t)
	for _, path := range goldens(t, "shared/corefile") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".golden"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			serveBy(t, add(t, lab.New(t), "node"), own, text).clean()
			if !strings.Contains(path, "announced") {
				serve(t, add(t, lab.New(t), "node"), text).clean()
			}
		})
	}
}

// TestCoreDNSRefuses holds that CoreDNS reads the whole file before it serves.
func TestCoreDNSRefuses(t *testing.T) {
	path := program(t)
	many := make([]netip.Addr, 16)
	for i := range many {
		many[i] = netip.AddrFrom4([4]byte{198, 51, 100, byte(i + 1)})
	}
	good := string(corefile.Render(config([]string{"192.0.2.5"}, []string{"192.0.2.6"}, "198.51.100.1")))
	for _, tt := range []struct{ name, text, finding string }{
		{name: "a word that it does not know", text: strings.Replace(good, "bufsize", "bufsiz", 1), finding: "bufsiz"},
		{name: "nobody to forward to", text: strings.Replace(good, "forward . 198.51.100.1", "forward .", 1), finding: "forward"},
		{name: "16 upstreams", text: string(corefile.Render(corefile.Config{Zone: zone, Upstreams: many, HealthPort: 18080})), finding: "more than 15"},
		{name: "a block without end", text: strings.TrimSuffix(strings.TrimSpace(good), "}"), finding: "expecting '}'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			file := filepath.Join(t.TempDir(), "Corefile")
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := add(t, lab.New(t), "node").Command(ctx, path, "-conf", file).CombinedOutput()
			if _, exited := err.(*exec.ExitError); !exited || ctx.Err() != nil || !strings.Contains(strings.ToLower(string(out)), tt.finding) {
				t.Errorf("%v, and it says:\n%s\nwant: %s", err, out, tt.finding)
			}
		})
	}
}

func config(api, ingress []string, upstreams ...string) corefile.Config {
	return corefile.Config{Zone: zone, Records: record.Cluster(zone, addresses(api), addresses(ingress)), Upstreams: addresses(upstreams), HealthPort: 18080, Poll: true}
}

func addresses(texts []string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}
