package e2e

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/query"
)

// inForce is how long other name servers may take from NetworkManager's file to CoreDNS's
// forwarding.
const inForce = 2 * time.Second

// The network's name servers, each by both families. The first is the neighbour's.
var (
	first   = netip.MustParseAddr("192.0.2.1")
	first6  = netip.MustParseAddr("2001:db8:1::1")
	second  = netip.MustParseAddr("192.0.2.2")
	second6 = netip.MustParseAddr("2001:db8:1::2")
)

const (
	resolvConf   = "/etc/resolv.conf"
	managersConf = "/run/NetworkManager/resolv.conf"
)

// resolving is a machine whose link is NetworkManager's, with two name servers on the network.
type resolving struct {
	*testing.T
	*chain.Chain
	observer *lab.Observer
}

// resolvingMachine boots a machine, prepared by prepare, and waits until it answers for the
// cluster's names. ipv4 and ipv6 are sections of NetworkManager's keyfile.
func resolvingMachine(t *testing.T, ipv4, ipv6 string, prepare func(c *chain.Chain) error) resolving {
	t.Helper()
	needLong(t)
	c := installed(t, "ipv4")
	_, err := c.AddNameServer(second.As4()[3])
	must(t, err)
	must(t, c.Manage(t.Context(), ipv4, ipv6))
	must(t, prepare(c))
	o := observe(t, chain.APIVIP, c.Bootstrap)
	must(t, c.Boot(t.Context()))
	active(t, c, chain.Unit, dnsUnit)
	wait(t, o, time.Minute, "bootstrap")
	return resolving{T: t, Chain: c, observer: o}
}

// sh runs a script in the machine that must work.
func (r resolving) sh(script string) string {
	r.Helper()
	return sh(r.T, r.Chain, script)
}

// servers are the name servers that the machine's own programs ask.
func (r resolving) servers() []string {
	r.Helper()
	return strings.Fields(r.sh("sed -n 's/^nameserver //p' " + resolvConf))
}

// asks says whether programs ask exactly these, in order.
func (r resolving) asks(want ...string) (string, error) {
	if got := r.servers(); !slices.Equal(got, want) {
		return "", fmt.Errorf("%s names %v, want %v; NetworkManager has %q", resolvConf, got, want, output(r.Context(), r.Chain, "cat", managersConf))
	}
	return fmt.Sprintf("resolv.conf names %v", want), nil
}

// unique numbers questions that CoreDNS's cache has not seen.
var unique int

// forwards asks CoreDNS, over the network, for a name that tells which name server is behind it.
func (r resolving) forwards(want netip.Addr) (string, error) {
	unique++
	text, err := r.Text(r.Context(), fmt.Sprintf("q%d.%s", unique, chain.Outside))
	if err == nil && text != want.String() {
		err = fmt.Errorf("%s is behind CoreDNS, want %s", text, want)
	}
	return fmt.Sprintf("%s is behind CoreDNS", want), err
}

// identity is that of a file: another one when it has been written.
func (r resolving) identity(path string) string {
	r.Helper()
	return r.sh("stat --format '%i %Y %Z' " + path)
}

// both is the usual right state: 127.0.0.1 first, then the server, which is also behind CoreDNS;
// and the VIP is held.
func (r resolving) both(server netip.Addr) func() (string, error) {
	return func() (string, error) {
		answer, err := r.asks("127.0.0.1", server.String())
		if err != nil {
			return "", err
		}
		behind, err := r.forwards(server)
		if err != nil {
			return "", err
		}
		if err := holders(r.observer, "bootstrap"); err != nil {
			return "", err
		}
		return answer + ", " + behind, nil
	}
}

func (r resolving) drill(fault string, within time.Duration, inject func(), right func() (string, error)) {
	r.Helper()
	drill{fault: fault, inject: inject, within: within, right: right}.run(r.T)
}

func (r resolving) try(err error) {
	r.Helper()
	must(r.T, err)
}

// hostname watches for longer than a question to a name server takes that the machine does not get
// the name which the VIP's PTR record says, and the one of its own address too (K-43).
func (r resolving) hostname(fault string) {
	r.Helper()
	begun := time.Now()
	r.drill(fault, 10*time.Second, func() {}, func() (string, error) {
		if got := r.sh("getent hosts " + chain.APIVIP.String()); !strings.Contains(got, "api."+chain.Zone) {
			return "", fmt.Errorf("the name servers say %q of the VIP: nothing would show that nobody believes them", got)
		}
		got := r.sh("hostname; hostnamectl --transient; hostnamectl --static; cat /proc/sys/kernel/hostname")
		switch {
		case strings.Contains(got, "api"):
			return "", fmt.Errorf("the machine calls itself %q", got)
		case time.Since(begun) < 3*time.Second:
			return "", errors.New("not watched for long enough")
		}
		return "the machine does not take that for its name", nil
	})
}

// TestLongNetworkManager has the real NetworkManager and a DHCP server whose lease is renewed every
// few seconds.
func TestLongNetworkManager(t *testing.T) {
	var dhcp *chain.DHCP
	r := resolvingMachine(t, "method=auto", "method=auto", func(c *chain.Chain) (err error) {
		if dhcp, err = c.ServeDHCP(t.Context(), first); err != nil {
			return err
		}
		// A password with a percent sign (N-14): systemd must not take it for a specifier.
		return c.Machine.Write("/etc/mco/proxy.env", []byte("NO_PROXY=localhost,.example.com\nHTTP_PROXY=http://me:p%40ss%n@proxy.invalid:3128\n"), 0o644)
	})
	defer func() {
		if t.Failed() {
			t.Logf("NetworkManager says:\n%s\ndnsmasq says:\n%s", r.Journal(t.Context(), "NetworkManager", "NetworkManager-dispatcher", "onprem-resolv"), dhcp.Log())
		}
	}()
	const renewed = chain.Renewal + inForce + 4*time.Second

	r.drill("boot with NetworkManager and a lease", 20*time.Second, func() {}, r.both(first))
	r.proxied()
	r.hostname("PTR records name the API: after the boot")
	conf, leases := r.identity(resolvConf), dhcp.Leases()
	r.drill("renewed twice, the same name server", 3*renewed, func() {}, func() (string, error) {
		if n := dhcp.Leases() - leases; n < 2 {
			return "", fmt.Errorf("renewed %d times", n)
		}
		if now := r.identity(resolvConf); now != conf {
			t.Errorf("resolv.conf was %s and is %s", conf, now)
		}
		return "nothing written, the VIP stays", nil
	})
	r.drill("renewed with another name server", renewed, func() { r.try(dhcp.Offer(second)) }, r.both(second))
	conf = r.identity(resolvConf)
	r.drill("renewed without any name server", renewed, func() {
		leases = dhcp.Leases()
		r.try(dhcp.Offer())
	}, func() (string, error) {
		if got := r.sh("cat " + managersConf); strings.Contains(got, "nameserver") {
			return "", fmt.Errorf("NetworkManager still has %q", got)
		}
		if now := r.identity(resolvConf); now != conf {
			t.Errorf("resolv.conf was %s and is %s", conf, now)
		}
		_, err := r.both(second)()
		return "what was there is kept", err
	})
	r.drill("renewed with two name servers", renewed, func() { r.try(dhcp.Offer(first, second)) }, func() (string, error) {
		if answer, err := r.asks("127.0.0.1", first.String(), second.String()); err != nil {
			return answer, err
		}
		return r.forwards(first)
	})
	r.drill("renewed with the first again", renewed, func() { r.try(dhcp.Offer(first)) }, r.both(first))
	unbroken(t, r.observer)
	r.drill("NetworkManager restarted", 20*time.Second, func() { r.sh("systemctl restart NetworkManager; nm-online -q -s -t 15") }, r.both(first))
	unbroken(t, r.observer)
	r.drill("the DHCP server gone, NetworkManager restarted", 20*time.Second, func() {
		r.try(dhcp.Stop())
		r.sh("systemctl restart NetworkManager; sleep 2")
	}, func() (string, error) {
		got, err := r.both(first)()
		if address := r.sh("ip -o -4 addr show dev eth0 to 192.0.2.10"); err == nil && address == "" {
			return "no address yet, names as before: " + got, nil
		}
		return got, err
	})
	r.drill("the DHCP server back", 40*time.Second, func() {
		r.try(dhcp.Start(t.Context()))
		r.sh("nmcli connection up eth0")
	}, r.both(first))
	r.drill("the connection taken down and up", 20*time.Second, func() { r.sh("nmcli connection down eth0; nmcli connection up eth0") }, r.both(first))
	// Without the watch it is NetworkManager's dispatcher that must call the hook.
	r.sh("systemctl stop onprem-resolv.path")
	r.drill("the connection taken up with another name server, no watch", 20*time.Second, func() {
		r.try(dhcp.Offer(second))
		r.sh("nmcli connection up eth0")
	}, r.both(second))
	r.sh("systemctl start onprem-resolv.path")
	r.drill("renewed with the first once more", renewed, func() { r.try(dhcp.Offer(first)) }, r.both(first))
	r.quiet()
	r.hostname("PTR records name the API: after the leases")
	// An address of its own is one that NetworkManager would ask the name servers about, put into a
	// profile, and take away.
	if got := r.sh("nmcli -g ipv4.addresses connection show eth0; ip -o -4 address show dev eth0 to 192.0.2.0/24"); strings.Contains(got, chain.APIVIP.String()+"/24") {
		t.Errorf("NetworkManager has the VIP for the machine's address: %v", got)
	}
	r.ipv6(dhcp)
}

// ipv6 has the network name IPv6 servers (BZ1801436), first alone, and renews that lease too.
func (r resolving) ipv6(dhcp *chain.DHCP) {
	r.Helper()
	r.drill("the connection taken up, an IPv6 name server alone", 30*time.Second, func() {
		r.try(dhcp.Offer(first6))
		r.sh("nmcli connection up eth0")
	}, r.both(first6))
	since := time.Now()
	r.drill("renewed with another IPv6 name server", chain.Renewal6+inForce+10*time.Second, func() { r.try(dhcp.Offer(second6)) }, r.both(second6))
	r.drill("renewed with an IPv4 name server beside it", chain.Renewal+inForce+4*time.Second, func() { r.try(dhcp.Offer(first, second6)) }, func() (string, error) {
		answer, err := r.asks("127.0.0.1", first.String(), second6.String())
		if err != nil {
			return answer, err
		}
		_, err = r.forwards(first)
		return answer, err
	})
	if got := story(r.observer, since); got != "bootstrap" {
		r.Errorf("while leases were renewed the VIP was held by %s", got)
	}
}

// proxied holds that the units run with the proxy exactly as it is written in proxy.env.
func (r resolving) proxied() {
	r.Helper()
	env := r.sh(`tr '\0' '\n' </proc/$(systemctl show --property=MainPID --value onprem-coredns)/environ; systemctl show --property=Environment podman.service`)
	if !slices.Contains(strings.Fields(env), "HTTP_PROXY=http://me:p%40ss%n@proxy.invalid:3128") {
		r.Errorf("onprem-coredns runs with %s", env)
	}
}

// quiet lets NetworkManager's file, and ours, change without a word to a hook (R-13, BZ2029438).
func (r resolving) quiet() {
	r.Helper()
	r.sh("systemctl stop NetworkManager; systemctl mask --runtime --now NetworkManager-dispatcher")
	r.drill("NetworkManager's file changed without an event", 10*time.Second, func() {
		r.sh(fmt.Sprintf("echo nameserver %s >%s.new; mv %[2]s.new %[2]s", second, managersConf))
	}, r.both(second))
	r.drill("resolv.conf written by somebody else", 10*time.Second, func() {
		r.sh(fmt.Sprintf("echo nameserver %s >%s.new; mv %[2]s.new %[2]s", first, resolvConf))
	}, r.both(second))
	r.sh("systemctl unmask --runtime NetworkManager-dispatcher; systemctl start NetworkManager")
	r.drill("NetworkManager started", 30*time.Second, func() {}, r.both(first))
}

// changes has NetworkManager change the name servers twenty times while clients ask 500 questions a
// second, for our names and for outside ones.
func (r resolving) changes() {
	r.Helper()
	const perSecond = 500
	to := []netip.Addr{first, second}
	var outcome query.Outcome
	var written []time.Time
	var elapsed time.Duration
	r.drill("20 changes of the name server, 500 queries a second", 2*time.Minute, func() {
		begun := time.Now()
		load, err := query.Start(r.Neighbour, "192.0.2.10:53", perSecond, asked)
		r.try(err)
		for i := range 20 {
			r.sh("nmcli device modify eth0 ipv4.dns " + to[i%2].String())
			eventually(r.T, 10*time.Second, func() error {
				_, err := r.both(to[i%2])()
				return err
			})
			at, err := strconv.ParseFloat(r.sh("stat --format %.6Y "+managersConf), 64)
			r.try(err)
			written = append(written, time.UnixMicro(int64(at*1e6)))
		}
		elapsed = time.Since(begun)
		outcome, err = load.Stop()
		r.try(err)
	}, func() (string, error) {
		took := former(outcome.Answers, written, to)
		r.Logf("after NetworkManager's file the former name server was asked for %s", took)
		if err := outcome.Err(); err != nil || slices.Max(took) > inForce {
			r.Errorf("want 0 lost, and the former name server asked for no longer than %s: %v", inForce, err)
		}
		if want := int(0.95 * perSecond * elapsed.Seconds()); len(outcome.Answers) < want {
			r.Errorf("%d queries in %s, want %d at least", len(outcome.Answers), elapsed, want)
		}
		return fmt.Sprintf("%d queries in %.1f s, %d lost, the slowest %d ms; the former name server asked no longer than %d ms", len(outcome.Answers),
			elapsed.Seconds(), outcome.Lost(), outcome.Slowest().Milliseconds(), slices.Max(took).Milliseconds()), nil
	})
}

// asked are a name of the cluster and outside names in turn, which tell which name server gave the
// answer. CoreDNS has none of those in its cache.
func asked(i int) query.Question {
	if i%2 == 0 {
		return query.Question{Name: "api-int." + chain.Zone, Type: dns.TypeA, Want: []string{chain.APIVIP.String()}}
	}
	return query.Question{Name: fmt.Sprintf("n%d.%s", i, chain.Outside), Type: dns.TypeTXT, Want: []string{first.String(), second.String()}}
}

// bereft is a fault by which NetworkManager takes every address of the link that is not in its
// profile, and so the VIP. keepalived sees it go, takes itself for a backup, and is elected anew
// when it has not heard of another for (256-70)/256 of an advert: every other waits longer.
func (r resolving) bereft(fault, script string) {
	r.Helper()
	var since time.Time
	r.drill(fault, 20*time.Second, func() {
		since = time.Now()
		r.sh(script)
	}, func() (string, error) {
		answer, err := r.both(second)()
		return fmt.Sprintf("%s; the VIP was held by %s", answer, story(r.observer, since)), err
	})
	for _, gap := range r.observer.Report().Gaps() {
		if gap.From.After(since) && gap.Length() > 3*oneAdvert { // when others would take it
			r.Errorf("%s: the VIP was away for %s", fault, gap.Length())
		}
	}
}

// former is how long after each change the former name server was still asked.
func former(answers []query.Answer, written []time.Time, to []netip.Addr) (took times) {
	for i, at := range written {
		last := at
		for _, a := range answers {
			if a.Text == to[(i+1)%2].String() && a.Asked.After(at) && (i+1 == len(written) || a.Asked.Before(written[i+1])) {
				last = a.Asked
			}
		}
		took = append(took, last.Sub(at))
	}
	return took
}

// TestLongResolved has systemd-resolved for the machine's resolver and NetworkManager to tell it of
// name servers.
func TestLongResolved(t *testing.T) {
	var dhcp *chain.DHCP
	r := resolvingMachine(t, "method=auto", "method=ignore", func(c *chain.Chain) (err error) {
		if dhcp, err = c.ServeDHCP(t.Context(), first); err != nil {
			return err
		}
		return c.Resolve()
	})
	defer func() {
		if t.Failed() {
			t.Logf("systemd-resolved says:\n%s\n%s", r.Journal(t.Context(), "systemd-resolved", "NetworkManager"), output(t.Context(), r.Chain, "sh", "-c",
				"resolvectl; ls -l /etc/resolv.conf /run/systemd/resolve /run/NetworkManager; cat /etc/resolv.conf /run/NetworkManager/*resolv.conf /etc/coredns/Corefile; ss -lunp"))
		}
	}()
	// What programs see, each by its own way to the resolver: the C library, which reads
	// resolv.conf, and the bus.
	names := func(server netip.Addr) func() (string, error) {
		return func() (string, error) {
			for _, name := range []struct{ name, want string }{
				{"api-int." + chain.Zone, chain.APIVIP.String()}, {"console.apps." + chain.Zone, chain.IngressVIP.String()}, {chain.Outside, chain.OutsideIP},
			} {
				for _, ask := range []string{"getent ahostsv4 ", "resolvectl query --legend=no -4 --cache=no "} {
					got, err := r.VM.Run(t.Context(), "sh", "-c", ask+name.name)
					if err != nil || !strings.Contains(got, name.want) {
						return "", fmt.Errorf("%s%s: %q %v", ask, name.name, got, err)
					}
				}
			}
			if _, err := r.forwards(server); err != nil {
				return "", err
			}
			corefile := r.sh("cat /etc/coredns/Corefile")
			if !strings.Contains(corefile, "forward . "+server.String()+" {") {
				return "", fmt.Errorf("CoreDNS forwards to others:\n%s", corefile)
			}
			return "the cluster's names from CoreDNS, others by " + server.String() + ", no loop", nil
		}
	}
	r.drill("boot with systemd-resolved", 20*time.Second, func() {}, names(first))
	if got := r.sh("readlink " + resolvConf); got != chain.Resolved {
		t.Errorf("resolv.conf points to %q", got)
	}
	if got := r.sh("ss -Hlun 'sport = 53'; ss -Hltn 'sport = 53'"); strings.Contains(got, "127.0.0.53") {
		t.Errorf("systemd-resolved is still at port 53: %s", got)
	}
	r.drill("systemd-resolved: renewed with another name server", chain.Renewal+inForce+4*time.Second, func() { r.try(dhcp.Offer(second)) }, names(second))
	r.drill("systemd-resolved restarted", 10*time.Second, func() { r.sh("systemctl restart systemd-resolved") }, names(second))
	r.drill("systemd-resolved without NetworkManager", 10*time.Second, func() {
		r.sh("systemctl stop NetworkManager; rm -r /run/NetworkManager; resolvectl dns eth0 " + first.String())
	}, names(first))
	r.hostname("PTR records name the API: with systemd-resolved")
}

// TestLongStaticAddress has NetworkManager give the machine a fixed address, as K-43 needs it: no
// lease says a name.
func TestLongStaticAddress(t *testing.T) {
	r := resolvingMachine(t, "method=manual\naddress1=192.0.2.10/24,192.0.2.1\ndns=192.0.2.1;", "method=ignore", func(*chain.Chain) error { return nil })
	r.drill("boot with a static address", 20*time.Second, func() {}, r.both(first))
	r.hostname("PTR records name the API: with a static address")
	defer func() {
		if t.Failed() {
			t.Logf("NetworkManager says:\n%s", r.Journal(t.Context(), "NetworkManager", "NetworkManager-dispatcher", "onprem-resolv", "onprem-resolv-changed", "onprem-resolv.path"))
		}
	}()
	r.drill("static: NetworkManager restarted", 20*time.Second, func() { r.sh("systemctl restart NetworkManager; nm-online -q -s -t 15") }, r.both(first))
	unbroken(t, r.observer)
	// From here on profiles are applied anew.
	r.bereft("static: another name server, profile reapplied, VIP held", "nmcli connection modify eth0 ipv4.dns "+second.String()+"; nmcli device reapply eth0")
	r.changes()
	r.bereft("static: the connection taken up anew, VIP held", "nmcli connection up eth0")
	r.hostname("PTR records name the API: the connection taken up with the VIP held")
	if got := r.sh("nmcli -g ipv4.addresses connection show eth0"); got != "192.0.2.10/24" {
		t.Errorf("NetworkManager has the addresses %s", got)
	}
	r.drill("no NetworkManager at all", 20*time.Second, func() {
		r.sh("systemctl stop NetworkManager; rm -r /run/NetworkManager; echo nameserver " + first.String() + " >" + resolvConf)
	}, r.both(first))
}
