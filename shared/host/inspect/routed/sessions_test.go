package routed

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestSessions holds that the session of a real FRR is seen which receives at no port, as those of
// MetalLB and Cilium do, and that a connection of none of its programs is not.
func TestSessions(t *testing.T) {
	router, host := netns.New(t), netns.New(t)
	host.IP(t, "link set lo up\nlink add e0 type veth peer name e0 netns "+router.Path()+"\nlink set e0 up\naddr add 192.0.2.11/24 dev e0\n")
	router.IP(t, "link set e0 up\naddr add 192.0.2.1/24 dev e0\n")
	need.File(t, frr.Programs+"bgpd")
	need.File(t, frr.Programs+"bgpd")
	dir := frr.Directory(t)
	config := filepath.Join(dir, "bgpd.conf")
	if err := os.WriteFile(config, []byte("router bgp 64512\n neighbor 192.0.2.1 remote-as 65101\n neighbor 192.0.2.1 timers connect 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(frr.Programs+"bgpd", "-f", config, "-p", "0", "-P", "0", "-Z", "-n", "--vty_socket", dir, "-i", filepath.Join(dir, "pid"))
	var at net.Listener
	if err := router.In(func() (err error) {
		at, err = net.Listen("tcp", "192.0.2.1:179")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := host.In(cmd.Start); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	var all []facts.Socket
	for end := time.Now().Add(20 * time.Second); len(all) == 0 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := host.In(func() (err error) {
			all, err = sessions(netip.MustParseAddr("192.0.2.1"))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(all) != 1 || all[0].From.String() != "192.0.2.11" || all[0].Router.String() != "192.0.2.1" || all[0].Port != 179 ||
		!slices.ContainsFunc(all[0].Owners, func(o string) bool { return strings.HasPrefix(o, "bgpd (process ") }) {
		t.Errorf("%+v", all)
	}
	if err := host.In(func() error {
		listening, err := foreign()
		if len(listening) > 0 {
			t.Errorf("it receives: %+v", listening)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
