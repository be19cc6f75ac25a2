package e2e

import (
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

func fromImages(t *testing.T, c *chain.Chain) {
	for _, name := range []string{"keepalived", "coredns"} {
		if out, err := c.VM.Run(t.Context(), "sh", "-c", "command -v "+name); err == nil {
			t.Errorf("the machine has a %s of its own: %s", name, out)
		}
	}
	if out := run(t, c, "podman", "ps", "--format", "{{.Names}} {{.Image}}"); !strings.Contains(out, "onprem-keepalived localhost/keepalived") || !strings.Contains(out, "onprem-coredns localhost/coredns") {
		t.Errorf("containers: %q", out)
	}
}

func programs(t *testing.T, c *chain.Chain) {
	active(t, c, installUnit)
	source, err := chain.Source()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"onprem-infra", "onprem-speak", "onprem-supervise"} {
		path := "/usr/local/bin/" + name
		if mode := run(t, c, "stat", "--format", "%a %U", path); mode != "755 root\n" {
			t.Errorf("%s: %s", path, mode)
		}
		cmd := c.VM.Command(t.Context(), "cmp", "-", path)
		built, err := os.Open(source + "/bin/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer built.Close()
		cmd.Stdin = built
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s is not what was built: %v %s", path, err, out)
		}
	}
}

func unprivileged(t *testing.T, c *chain.Chain) {
	const format = "{{.Name}} privileged={{.HostConfig.Privileged}} readonly={{.HostConfig.ReadonlyRootfs}} caps={{.EffectiveCaps}}"
	want := map[string]string{
		"onprem-keepalived": "privileged=false readonly=true caps=[CAP_NET_ADMIN CAP_NET_RAW]",
		"onprem-coredns":    "privileged=false readonly=true caps=[CAP_NET_BIND_SERVICE]",
	}
	out := run(t, c, "sh", "-c", "podman inspect --format '"+format+"' $(podman ps --quiet --all)")
	seen := map[string]string{}
	for line := range strings.Lines(out) {
		name, rights, _ := strings.Cut(strings.TrimSpace(line), " ")
		seen[name] = rights
	}
	for name, rights := range want {
		if seen[name] != rights {
			t.Errorf("%s: %s, want %s", name, seen[name], rights)
		}
	}
	for name, rights := range seen {
		if !strings.HasPrefix(rights, "privileged=false") {
			t.Errorf("%s: %s", name, rights)
		}
	}
	// What the kernel says counts: no process of a container may have more than it was given.
	for _, name := range []string{"onprem-keepalived", "onprem-coredns"} {
		status := run(t, c, "sh", "-c", fmt.Sprintf("grep -E '^(CapPrm|CapBnd|NoNewPrivs)' /proc/$(podman inspect --format '{{.State.Pid}}' %s)/status", name))
		bound := map[string]string{"onprem-keepalived": "0000000000003000", "onprem-coredns": "0000000000000400"}[name]
		if !strings.Contains(status, "CapBnd:\t"+bound) || !strings.Contains(status, "NoNewPrivs:\t1") {
			t.Errorf("%s: want a bounding set of %s and no new privileges, got\n%s", name, bound, status)
		}
	}
}

// serves asks through the VIP, from another machine, and checks the certificate with the cluster's
// CA.
func serves(t *testing.T, c *chain.Chain) {
	for _, tt := range []struct{ name, address, path string }{
		{name: "the API is ready", address: netip.AddrPortFrom(chain.APIVIP, 6443).String(), path: "/readyz"},
		{name: "masters find their Ignition", address: netip.AddrPortFrom(chain.APIVIP, 22623).String(), path: "/config/master"},
	} {
		eventually(t, 10*time.Second, func() error {
			code, err := c.Get(t.Context(), tt.address, tt.path)
			if err == nil && code != http.StatusOK {
				err = fmt.Errorf("answer %d", code)
			}
			if err != nil {
				return fmt.Errorf("%s: https://%s%s: %w", tt.name, tt.address, tt.path, err)
			}
			return nil
		})
	}
}

func resolves(t *testing.T, c *chain.Chain) {
	none := []netip.Addr{}
	for _, tt := range []struct {
		name  string
		qtype uint16
		want  []netip.Addr
	}{
		{name: "api." + chain.Zone, qtype: dns.TypeA, want: []netip.Addr{chain.APIVIP}},
		{name: "api-int." + chain.Zone, qtype: dns.TypeA, want: []netip.Addr{chain.APIVIP}},
		{name: "console.apps." + chain.Zone, qtype: dns.TypeA, want: []netip.Addr{chain.IngressVIP}},
		{name: "a.b.apps." + chain.Zone, qtype: dns.TypeA, want: []netip.Addr{chain.IngressVIP}},
		{name: "api." + chain.Zone, qtype: dns.TypeAAAA, want: none},
		{name: "console.apps." + chain.Zone, qtype: dns.TypeAAAA, want: none},
		{name: chain.Outside, qtype: dns.TypeA, want: []netip.Addr{netip.MustParseAddr(chain.OutsideIP)}},
	} {
		got, err := c.Lookup(t.Context(), tt.name, tt.qtype)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s %s: %v, want %v (%v)", tt.name, dns.TypeToString[tt.qtype], got, tt.want, err)
		}
	}
	if got, err := c.Lookup(t.Context(), "apiX"+chain.Zone, dns.TypeA); err == nil {
		t.Errorf("a name that only looks like ours is answered with %v", got)
	}
}
