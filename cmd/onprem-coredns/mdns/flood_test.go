package mdns

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/browse"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// flooded is the environment variable by which TestFlood runs TestListener.
const flooded = "ONPREM_INFRA_FLOODED"

// TestListener is no test: it is the process whose CPU time TestFlood measures. It ends with its input, and
// writes for each line of it, and at the end, how many hosts it knows.
func TestListener(t *testing.T) {
	if os.Getenv(flooded) != "1" {
		t.Skip("is run by TestFlood and TestAddresses")
	}
	wish := browse.Wish{Types: []wire.Type{wire.Workstation, wire.Etcd}, Cluster: "ostest"}
	l := &listener{settings: settings{bind: netip.MustParseAddr("192.0.2.1"), wish: wish}}
	l.start()
	defer l.stop()
	for l.known.Load() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("listens")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(len(l.known.Load().hosts))
	}
	fmt.Println(len(l.known.Load().hosts))
}

// launch starts TestListener in a namespace, and returns when it listens.
func launch(t *testing.T, ns netns.Namespace) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), need.Command(t, "nsenter"), "--net="+ns.Path(), os.Args[0], "-test.run", "^TestListener$")
	cmd.Env = append(os.Environ(), flooded+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out = bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); line != "listens\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, in, out
}

// sender is a socket of a host of the link.
func sender(t *testing.T, ns netns.Namespace, from string) (c net.PacketConn) {
	t.Helper()
	if err := ns.In(func() (err error) {
		c, err = (&net.ListenConfig{Control: share}).ListenPacket(t.Context(), "udp4", from+":5353")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestAddresses has the interface get a VIP, and lose it: what is known stays, as no host announces itself
// again for that. Then it gets an address of another network, and hosts of that one are received too.
func TestAddresses(t *testing.T) {
	need.Root(t)
	ns := netns.New(t)
	ns.IP(t, "link add eth0 type veth peer name peer0\nlink set eth0 addrgenmode none\nlink set peer0 up\nlink set eth0 up\n"+
		"address add 192.0.2.1/24 dev eth0\naddress add 192.0.2.10/24 dev eth0")
	group := net.UDPAddrFromAddrPort(netip.MustParseAddrPort("224.0.0.251:5353"))
	cmd, in, out := launch(t, ns)
	defer func() { _, _ = in.Close(), cmd.Wait() }()
	known := func() (n int) {
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fscanln(out, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	await := func(want int, what string, from net.PacketConn, packet []byte) {
		t.Helper()
		for began := time.Now(); known() != want; time.Sleep(50 * time.Millisecond) {
			if time.Since(began) > 30*time.Second {
				t.Fatalf("%s: %d hosts are known, want %d", what, known(), want)
			}
			_, _ = from.WriteTo(packet, group)
		}
	}
	await(20, "at the start", sender(t, ns, "192.0.2.10"), announcement(t, 0))
	for _, change := range []string{"add", "del"} {
		ns.IP(t, "address "+change+" 192.0.2.200/32 dev eth0")
		for began := time.Now(); time.Since(began) < 2*rescan; time.Sleep(10 * time.Millisecond) {
			if n := known(); n != 20 {
				t.Fatalf("after address %s of a VIP %d hosts are known, want 20", change, n)
			}
		}
	}
	ns.IP(t, "address add 198.51.100.10/24 dev eth0")
	await(40, "of another network", sender(t, ns, "198.51.100.10"), announcement(t, 1))
}

// TestFlood has 128 forged hosts of the link fill the cache, and then send 20,000 packets a second.
// It measures the CPU time of the process that listens, and one host must be known.
func TestFlood(t *testing.T) {
	need.Root(t)
	// A listener that reads all of it takes a core. Beside other work the caches are shared, and the
	// same packets take 0.45 of a core instead of 0.3.
	const rate, lasts, sources, most = 20_000, 5 * time.Second, 128, 0.7 // of a core
	ns := netns.New(t)
	ns.IP(t, "link add eth0 type veth peer name peer0\nlink set peer0 up\nlink set eth0 up\naddress add 192.0.2.1/24 dev eth0")
	var senders []net.PacketConn
	var packets [][]byte
	for i := range sources {
		from := fmt.Sprintf("192.0.2.%d", 10+i)
		ns.IP(t, "address add "+from+"/24 dev eth0")
		c := sender(t, ns, from)
		senders, packets = append(senders, c), append(packets, announcement(t, i))
	}
	cmd, in, out := launch(t, ns)
	group, began, sent := net.UDPAddrFromAddrPort(netip.MustParseAddrPort("224.0.0.251:5353")), time.Now(), 0
	for time.Since(began) < lasts {
		for want := int(time.Since(began).Seconds() * rate); sent < want; sent++ {
			_, _ = senders[sent%sources].WriteTo(packets[sent%sources], group) // a full queue drops it
		}
		time.Sleep(time.Millisecond)
	}
	took := time.Since(began)
	in.Close()
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, rest)
	}
	share := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() / took.Seconds()
	hosts, _, _ := strings.Cut(string(rest), "\n")
	t.Logf("%.0f packets a second for %v: %.2f of a core, %s hosts known", float64(sent)/took.Seconds(), took.Round(time.Millisecond), share, hosts)
	if share > most {
		t.Errorf("the flood costs %.2f of a core, want %.2f at most", share, most)
	}
	if hosts == "0" {
		t.Error("no host is known after the flood")
	}
}

// share lets a sender have the port beside the listener.
func share(_, _ string, raw syscall.RawConn) (err error) {
	control := raw.Control(func(fd uintptr) {
		for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
			if err == nil {
				err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, 1)
			}
		}
	})
	if err != nil {
		return err
	}
	return control
}

// announcement is a forged source's packet about 20 hosts.
func announcement(t *testing.T, source int) []byte {
	t.Helper()
	m := &dns.Msg{MsgHdr: dns.MsgHdr{Response: true, Authoritative: true}, Compress: true}
	for i := range 20 {
		name := fmt.Sprintf("forged-%d-%d", source, i)
		for _, text := range []string{
			fmt.Sprintf(`_workstation._tcp.local. 3200 IN PTR ostest\032%s._workstation._tcp.local.`, name),
			fmt.Sprintf(`ostest\032%s._workstation._tcp.local. 3200 IN SRV 0 0 42424 %s.local.`, name, name),
			fmt.Sprintf(`%s.local. 3200 IN A 192.0.2.%d`, name, 1+i),
		} {
			rr, err := dns.NewRR(text)
			if err != nil {
				t.Fatal(err)
			}
			m.Answer = append(m.Answer, rr)
		}
	}
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return data
}
