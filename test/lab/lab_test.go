package lab

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/owner"
)

func add(t *testing.T, l *Lab, name, address string) *Host {
	t.Helper()
	h, err := l.Add(name, netip.MustParsePrefix(address))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestLabHosts(t *testing.T) {
	for _, tt := range []struct{ name, a, b, dial string }{
		{name: "IPv4", a: "192.0.2.1/24", b: "192.0.2.2/24", dial: "192.0.2.2:7"},
		{name: "IPv6", a: "2001:db8::1/64", b: "2001:db8::2/64", dial: "[2001:db8::2]:7"},
		{
			name: "the same addresses in another lab", a: "192.0.2.1/24", b: "192.0.2.2/24",
			dial: "192.0.2.2:7",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := New(t)
			a, b := add(t, l, "a", tt.a), add(t, l, "b", tt.b)
			listener, err := b.Listen(":7")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			go func() {
				if conn, err := listener.Accept(); err == nil {
					fmt.Fprint(conn, "hello from b")
					conn.Close()
				}
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			conn, err := a.Dial(ctx, "tcp", tt.dial)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if text, _ := io.ReadAll(conn); string(text) != "hello from b" {
				t.Errorf("a heard %q", text)
			}
		})
	}
}

// TestPower has a host lose its power and regain it: its addresses and routes are lost.
func TestPower(t *testing.T) {
	need.Root(t)
	h := add(t, New(t), "a", "192.0.2.1/24")
	links := func() string {
		t.Helper()
		out, err := h.Command(t.Context(), "ip", "-br", "address", "show", "dev", "eth0").
			CombinedOutput()
		if err != nil {
			t.Fatalf("%v %s", err, out)
		}
		fields := strings.Fields(string(out))[1:]
		return strings.Join(slices.DeleteFunc(fields, func(f string) bool {
			return strings.HasPrefix(f, "fe80:")
		}), " ")
	}
	// The kernel marks a link UP some time after it was set up, and one DOWN at once.
	up := func(addresses string) {
		t.Helper()
		got := links()
		for end := time.Now().Add(10 * time.Second); got != "UP "+addresses; got = links() {
			if time.Now().After(end) {
				t.Fatalf("with power: %s", got)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err := ipBatch(h.namespace, "address add 192.0.2.5/32 dev eth0"); err != nil {
		t.Fatal(err)
	}
	up("192.0.2.1/24 192.0.2.5/32")
	if err := h.Off(); err != nil {
		t.Fatal(err)
	}
	if got := links(); got != "DOWN" {
		t.Errorf("without power: %s", got)
	}
	if err := h.On(); err != nil {
		t.Fatal(err)
	}
	up("192.0.2.1/24")
}

func TestLabCloseEndsProcesses(t *testing.T) {
	need.Root(t)
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	h := add(t, l, "a", "192.0.2.1/24")
	cmd := h.Command(t.Context(), "sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	for time.Sleep(
		50 * time.Millisecond,
	); inNetwork(cmd.Process.Pid, h) != nil; time.Sleep(10 * time.Millisecond) {
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	case <-time.After(5 * time.Second):
		t.Error("the process outlives the lab")
	}
	if _, err := os.Stat(h.Path()); err == nil {
		t.Error("the namespace outlives the lab")
	}
}

// inNetwork reports whether nsenter has entered the host's network.
func inNetwork(pid int, h *Host) error {
	ns, err := os.Stat(h.Path())
	if err != nil {
		return err
	}
	own, err := os.Stat(fmt.Sprintf("/proc/%d/ns/net", pid))
	if err == nil && !os.SameFile(ns, own) {
		err = fmt.Errorf("not yet in %s", h.Name)
	}
	return err
}

func TestLabRemovesWhatADeadOwnerLeft(t *testing.T) {
	need.Root(t)
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	self, err := owner.Self()
	if err != nil {
		t.Fatal(err)
	}
	ours := namePrefix + self + ".999.kept"
	left := fmt.Sprintf("%s%d.1.1.left", namePrefix, dead.Process.Pid)
	for _, name := range []string{ours, left} {
		if err := ip("netns", "add", name); err != nil {
			t.Fatal(err)
		}
	}
	defer ip("netns", "delete", ours)
	New(t)
	if _, err := os.Stat(netnsDir + "/" + left); err == nil {
		t.Errorf("%s is still there", left)
	}
	if _, err := os.Stat(netnsDir + "/" + ours); err != nil {
		t.Errorf("a living owner's namespace is gone: %v", err)
	}
}

func TestObserver(t *testing.T) {
	l := New(t)
	a, b := add(t, l, "a", "192.0.2.1/24"), add(t, l, "b", "192.0.2.2/24")
	vip := netip.MustParseAddr("192.0.2.5")
	o, err := Observe(vip, 5*time.Millisecond, a, b)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Stop()
	events, stop, err := b.Watch(vip)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, step := range []struct {
		host    *Host
		command string
		holders []string
	}{
		{host: a, command: "address add 192.0.2.5/32 dev eth0", holders: []string{"a"}},
		{host: b, command: "address add 192.0.2.5/32 dev eth0", holders: []string{"a", "b"}},
		{host: a, command: "address del 192.0.2.5/32 dev eth0", holders: []string{"b"}},
		{host: b, command: "address del 192.0.2.5/32 dev eth0", holders: []string{}},
		{host: a, command: "address add 192.0.2.5/32 dev eth0", holders: []string{"a"}},
	} {
		if err := ipBatch(step.host.namespace, step.command); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Wait(ctx, step.holders...); err != nil {
			t.Fatalf("after %s on %s: %v", step.command, step.host.Name, err)
		}
	}
	r := o.Stop()
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	var seen []string
	for _, s := range r.Spans {
		seen = append(seen, strings.Join(s.Holders, "+"))
	}
	if got, want := strings.Join(seen, ","), ",a,a+b,b,,a"; got != want {
		t.Errorf("spans %q, want %q", got, want)
	}
	if d := r.Doubles(); len(d) != 1 || d[0].Length() <= 0 {
		t.Errorf("doubles %v, want one", d)
	}
	if g := r.Gaps(); len(g) != 1 || g[0].Length() <= 0 {
		t.Errorf("gaps %v, want one: the time before the first holder is none", g)
	}
	for _, added := range []bool{true, false} {
		select {
		case e := <-events:
			if e.Added != added {
				t.Errorf("event added=%t, want %t", e.Added, added)
			}
		case <-ctx.Done():
			t.Fatal("no event")
		}
	}
}
