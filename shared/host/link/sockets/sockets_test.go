package sockets

import (
	"fmt"
	"net"
	"os"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestListeners holds that a socket that receives is found with its port, link and process, and
// that one which has another end is not.
func TestListeners(t *testing.T) {
	need.Root(t)
	ns := netns.New(t)
	ns.IP(t, "link set lo up\n")
	var udp net.PacketConn
	var tcp net.Listener
	var all []Listener
	err := ns.In(func() (err error) {
		if udp, err = net.ListenPacket("udp4", "0.0.0.0:67"); err != nil {
			return err
		}
		if tcp, err = net.Listen("tcp", "[::1]:6385"); err != nil {
			return err
		}
		conn, err := net.Dial("udp4", "127.0.0.1:69")
		if err != nil {
			return err
		}
		defer conn.Close()
		all, err = Listeners()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	defer tcp.Close()
	if len(all) != 2 || all[0].Network != "udp" || all[0].Local.String() != "0.0.0.0:67" || all[0].Device != 0 ||
		all[1].Network != "tcp" || all[1].Local.String() != "[::1]:6385" {
		t.Fatalf("%+v", all)
	}
	name := proc.OfSocket(all[0].Inode)
	if len(name) != 1 || !slices.Contains(name, fmt.Sprintf("sockets.test (process %d)", os.Getpid())) {
		t.Errorf("the process of %+v: %q", all[0], name)
	}
	if none := proc.OfSocket(0); len(none) > 0 {
		t.Errorf("the process of no socket: %q", none)
	}
}
