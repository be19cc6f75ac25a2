package avahi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// program builds our CoreDNS, once for a link.
func (l *link) program() string {
	l.t.Helper()
	program := filepath.Join(l.dir, "onprem-coredns")
	build := exec.CommandContext(l.t.Context(), "go", "build", "-C", "../../cmd/onprem-coredns", "-o", program)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		l.t.Fatalf("%v: %v\n%s", build, err, out)
	}
	return program
}

// coredns runs our CoreDNS on a host until the test ends. The function that it returns asks it at
// server.
func (l *link) coredns(host *lab.Host, text string) func(name string, kind uint16) string {
	l.t.Helper()
	file := filepath.Join(l.dir, host.Name+".Corefile")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		l.t.Fatal(err)
	}
	log, err := os.Create(file + ".log")
	if err != nil {
		l.t.Fatal(err)
	}
	cmd := host.Command(l.t.Context(), l.program(), "-conf", file)
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Start()
	if closing := log.Close(); err != nil || closing != nil {
		l.t.Fatal(err, closing)
	}
	l.t.Cleanup(func() {
		_ = cmd.Wait() // it was killed when the test's context ended
		if log, err := os.ReadFile(file + ".log"); l.t.Failed() && err == nil {
			l.t.Logf("CoreDNS on %s says:\n%s", host.Name, log)
		}
	})
	return func(name string, kind uint16) string {
		conn, err := host.Dial(l.t.Context(), "udp", server+":53")
		if err != nil {
			return err.Error()
		}
		defer conn.Close()
		reply, _, err := new(dns.Client).ExchangeWithConn(new(dns.Msg).SetQuestion(name, kind), &dns.Conn{Conn: conn})
		if err != nil {
			return "no answer"
		}
		return texts(reply)
	}
}

// texts is an answer in words: its code and what its records hold, sorted.
func texts(reply *dns.Msg) string {
	var all []string
	for _, rr := range reply.Answer {
		switch rr := rr.(type) {
		case *dns.A:
			all = append(all, rr.A.String())
		case *dns.AAAA:
			all = append(all, rr.AAAA.String())
		case *dns.SRV:
			all = append(all, fmt.Sprint(rr.Target, rr.Port))
		case *dns.PTR:
			all = append(all, rr.Ptr)
		}
	}
	slices.Sort(all)
	return fmt.Sprint(dns.RcodeToString[reply.Rcode], all)
}
