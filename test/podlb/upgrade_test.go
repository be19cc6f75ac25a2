package podlb

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
)

// formerly makes the configuration of today one of the release in which the frontend of the machine
// config servers had their backend's name.
var formerly = strings.NewReplacer("frontend machine-config-lb\n", "frontend machine-config\n")

// refused is what HAProxy 3.3 and later say of that configuration. Releases before only warn, in
// nearly the same words.
var refused = regexp.MustCompile(`\[ALERT\] .* has the same name as frontend`)

// TestUpgrade_FormerNames brings a monitor of today to a HAProxy that runs the configuration of a
// former release: it reads that one's statistics, reloads it, and no client notices.
func TestUpgrade_FormerNames(t *testing.T) {
	w := three(t)
	path := filepath.Join(w.node.Root, haproxy.File)
	today, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	former := []byte(formerly.Replace(string(today)))
	if _, digest := haproxy.Digest(former); digest == "" || string(former) == string(today) {
		t.Fatalf("that is no configuration of a former release:\n%s", former)
	}
	former = []byte(strings.Replace(string(former), w.structure(), "former", 1))
	w.monitor(syscall.SIGSTOP)
	if err := os.WriteFile(path, former, 0o644); err != nil {
		t.Fatal(err)
	}
	w.haproxyd("master.sock", "reload")
	w.within("HAProxy runs as formerly", 10*time.Second, func() bool {
		if refused.MatchString(w.node.Log("haproxy/haproxy")) {
			t.Skip("this HAProxy refuses the configuration of the former release, so no node runs it")
		}
		return w.structure() == "former"
	})
	w.up(3)
	known := map[string]bool{}
	for _, s := range w.stats() {
		known[s.Backend] = known[s.Backend] || s.Address.IsValid() && !s.Disabled()
	}
	backends := []string{haproxy.Masters, haproxy.MastersOpen, haproxy.MachineConfig, haproxy.MachineConfigOpen}
	for _, b := range backends {
		if !known[b] {
			t.Errorf("no server of backend %s is known while HAProxy runs as formerly", b)
		}
	}
	begun := time.Now()
	api := w.load(w.client, "https://"+vip+":6443/who", 2*time.Second)
	machines := w.load(w.client, fmt.Sprintf("https://%s:22623/who", vip), 2*time.Second)
	w.monitor(syscall.SIGCONT)
	took := w.within("HAProxy runs as today", 20*time.Second, func() bool { return w.structure() != "former" })
	w.up(3)
	time.Sleep(time.Second) // requests that the reload costs fail within it
	api.stop()
	machines.stop()
	t.Logf("the monitor reloaded HAProxy %v after it could", took.Round(time.Millisecond))
	none(t, "the upgrade, of the API's clients", begun, api.since(begun))
	none(t, "the upgrade, of machines that boot", begun, machines.since(begun))
	if text, err := os.ReadFile(path); err != nil || string(text) != string(today) {
		t.Errorf("%v: the file is not today's:\n%s", err, text)
	}
}

// monitor sends a signal to the monitor.
func (w *world) monitor(sig syscall.Signal) {
	w.t.Helper()
	if err := w.node.Signal("haproxy/haproxy-monitor", sig); err != nil {
		w.t.Fatal(err)
	}
}

// structure is what HAProxy says that it runs with.
func (w *world) structure() string {
	for line := range strings.Lines(w.haproxyd("haproxy.sock", "show info")) {
		if text, ok := strings.CutPrefix(line, "description: "); ok {
			return strings.TrimSpace(text)
		}
	}
	return ""
}
