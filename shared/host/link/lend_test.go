package link

import (
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestLend holds that a loan goes beside the kernel's own route to an address that a link has, that it outlasts the
// address, and that its end leaves the kernel's route alone.
func TestLend(t *testing.T) {
	ip := need.Command(t, "ip")
	for _, tt := range []struct{ family, vip, prefix string }{
		{"-4", "192.0.2.5", "192.0.2.5/32"}, {"-6", "2001:db8::5", "2001:db8::5/128"},
	} {
		ns := netns.New(t)
		ns.IP(t, "link set lo up\nlink add ens3 type veth peer name far\nlink set ens3 up\nlink set far up\n")
		vip := netip.MustParseAddr(tt.vip)
		lend, takeBack := func() error { return Lend(vip) }, func() error { return TakeBack(vip) }
		add := func() error {
			return exec.Command(ip, "addr", "add", tt.prefix, "dev", "ens3", "nodad").Run()
		}
		remove := func() error { _, err := RemoveAddress(vip); return err }
		const kernels, loan = "ens3", "lo"
		for _, step := range []struct {
			name string
			do   func() error
			want string
		}{
			{"added", add, kernels},
			{"lent", lend, kernels + " " + loan},
			{"lent again", lend, kernels + " " + loan},
			{"taken back while it is there", takeBack, kernels},
			{"taken back again", takeBack, kernels},
			{"lent anew", lend, kernels + " " + loan},
			{"removed", remove, loan},
			{"lent while it is away", lend, loan},
			{"taken back", takeBack, ""},
			{"lent before it comes", lend, loan},
			{"taken back when it has come", func() error {
				if err := add(); err != nil {
					return err
				}
				return takeBack()
			}, kernels},
		} {
			if err := ns.In(step.do); err != nil {
				t.Fatalf("%s, %s: %v", vip, step.name, err)
			}
			got := ""
			for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				got = strings.Join(routesBy(t, ns, tt.family, tt.prefix), " ")
				if got == step.want || time.Now().After(end) {
					break // the kernel adds its route of IPv6 a moment after the address
				}
			}
			if got != step.want {
				t.Errorf("%s, %s: routes by %q, want %q", vip, step.name, got, step.want)
			}
		}
	}
}

// routesBy are the links of an address's local routes, in their order.
func routesBy(t *testing.T, ns netns.Namespace, family, prefix string) (links []string) {
	t.Helper()
	ip := need.Command(t, "ip")
	var routes []byte
	if err := ns.In(func() (err error) {
		routes, err = exec.Command(ip, family, "route", "show", "table", "local", "exact", prefix).Output()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(routes)) {
		_, after, _ := strings.Cut(line, " dev ")
		links = append(links, strings.Fields(after)[0])
	}
	return links
}
