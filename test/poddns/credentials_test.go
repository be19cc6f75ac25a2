package poddns

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// TestCredentials holds what a monitor sees of kubelet's directory, and for how long: the
// kubeconfig and the certificates, as they are now, and no pod's secrets. kubelet replaces the link
// to its certificate while it runs; others remove the kubeconfig, or replace it by a rename. The
// FAKE API refuses credentials when it is told to.
func TestCredentials(t *testing.T) {
	c := open(t)
	n := c.node("m1", role.Master, "192.0.2.21", "")
	const kubelet = "/var/lib/kubelet/"
	rotate := func(day string) {
		t.Helper()
		link := filepath.Join(n.Root, kubelet+"pki/kubelet-client-current.pem")
		pem := asset.File{Path: kubelet + "pki/kubelet-client-" + day + ".pem", Mode: 0o600, Contents: []byte(day)}
		if err := n.Write(pem); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(pem.Path, link+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link+".new", link); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Write(
		asset.File{Path: kubelet + "pods/1/volumes/kubernetes.io~secret/token", Mode: 0o600, Contents: []byte("secret")},
		asset.File{Path: kubelet + "config.json", Mode: 0o600, Contents: []byte("{}")},
	); err != nil {
		t.Fatal(err)
	}
	monitor := func() (pid int, root string) {
		pid, err := n.PID("coredns/coredns-monitor")
		if err != nil {
			return 0, ""
		}
		return pid, fmt.Sprintf("/proc/%d/root", pid)
	}
	n.soon("api."+zone, dns.TypeA, apiVIP, 15*time.Second)
	first, root, daemon := 0, "", 0
	c.until("runc has written down its processes", 15*time.Second, func() bool { // a daemon may answer before
		var err error
		first, root = monitor()
		daemon, err = n.PID("coredns/coredns")
		return first != 0 && err == nil
	})
	sees, err := os.ReadDir(root + kubelet)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range sees {
		names = append(names, e.Name())
	}
	if want := []string{"kubeconfig", "pki"}; !slices.Equal(names, want) {
		t.Errorf("of kubelet's directory the monitor sees %v, want %v", names, want)
	}
	for _, day := range []string{"2026-01-01", "2026-02-01"} {
		rotate(day)
		target, err := os.Readlink(root + kubelet + "pki/kubelet-client-current.pem")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(root + target); err != nil || string(text) != day {
			t.Errorf("after the rotation of %s the monitor has the certificate %q, %v", day, text, err)
		}
	}
	if again, _ := monitor(); again != first {
		t.Error("the monitor began anew for a certificate")
	}

	kubeconfig := filepath.Join(n.Root, kubelet+"kubeconfig")
	if err := os.Remove(kubeconfig); err != nil {
		t.Fatal(err)
	}
	c.until("the monitor sees that its kubeconfig was removed", 15*time.Second, func() bool {
		return strings.Contains(n.Log("coredns/coredns-monitor"), "removed or replaced on the host")
	})
	time.Sleep(12 * time.Second) // it looks twice more
	if again, _ := monitor(); again != first {
		t.Error("the monitor has ended while there was no kubeconfig, and the API accepted the former one")
	}
	anew := string(c.api.Kubeconfig(n.Host.Name)) + "# with another CA\n"
	if err := os.WriteFile(kubeconfig+".new", []byte(anew), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(kubeconfig+".new", kubeconfig); err != nil {
		t.Fatal(err)
	}
	if err := c.api.Call(http.MethodPut, "/fake/credentials", []byte("refused")); err != nil {
		t.Fatal(err)
	}
	took := c.until("the monitor has the kubeconfig that replaced its own", 30*time.Second, func() bool {
		_, root := monitor()
		text, err := os.ReadFile(root + kubelet + "kubeconfig")
		return err == nil && string(text) == anew
	})
	t.Logf("the monitor has the other kubeconfig %v after the API refused the former one", took.Round(time.Millisecond))
	n.soon("api."+zone, dns.TypeA, apiVIP, 5*time.Second)
	if now, err := n.PID("coredns/coredns"); err != nil || now != daemon {
		t.Errorf("CoreDNS was %d and is %d, %v", daemon, now, err)
	}
	if log := n.Log("coredns/coredns-monitor"); strings.Count(log, "the kubeconfig was replaced") != 1 {
		t.Errorf("the monitor does not say once why it ended:\n%s", log)
	}
}
