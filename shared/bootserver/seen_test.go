package bootserver

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	plans "github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

const boot = `Nov 24 00:24:55 dnsmasq-dhcp[1]: 1059860912 available DHCP subnet: 172.22.0.0/255.255.255.0
Nov 24 00:24:55 dnsmasq-dhcp[1]: 1059860912 vendor class: PXEClient:Arch:00007:UNDI:003001
Nov 24 00:24:55 dnsmasq-dhcp[1]: 1059860912 DHCPDISCOVER(eno2) 52:54:00:00:00:01 
Nov 24 00:24:55 dnsmasq-dhcp[1]: 1059860912 DHCPOFFER(eno2) 172.22.0.11 52:54:00:00:00:01 
Nov 24 00:24:56 dnsmasq-dhcp[1]: 1059860912 DHCPACK(eno2) 172.22.0.11 52:54:00:00:00:01 host-1
Nov 24 00:24:56 dnsmasq-tftp[1]: sent /var/lib/x/snponly.efi to 172.22.0.11
Nov 24 00:24:56 dnsmasq-tftp[1]: sent /var/lib/x/autoexec.ipxe to 172.22.0.2
Nov 24 00:24:57 dnsmasq-dhcp[1]: 3 DHCPDISCOVER(eno2) 52:54:00:00:00:09 ignored
Nov 24 00:24:57 dnsmasq[1]: read /run/hosts`

// TestSeen_Lines holds that what hosts did is kept with their names, and the room's own probes are
// not.
func TestSeen_Lines(t *testing.T) {
	s := NewSeen(planned(plans.Managed).Provisioning, provision.Bootstrap, foreign.List{})
	at := time.Unix(1_700_000_000, 0)
	all := s.Lines(at, strings.Split(boot, "\n"))
	var got []string
	for _, e := range all {
		if !e.Time.Equal(at) {
			t.Errorf("%+v is of another time", e)
		}
		got = append(got, string(e.Source)+" "+e.Host+" "+e.Kind)
	}
	if want := "dhcp host-1 discover, dhcp host-1 offer, dhcp host-1 ack, tftp host-1 tftp-sent, dhcp  ignored"; strings.Join(got, ", ") != strings.Replace(want, "dhcp  ignored", "dhcp  discover", 1) {
		t.Errorf("got %s", strings.Join(got, ", "))
	}
	if all[0].Detail != "PXEClient:Arch:00007:UNDI:003001" || all[3].Detail != "172.22.0.11 /var/lib/x/snponly.efi" || all[4].Detail != "ignored" {
		t.Errorf("details %q, %q, %q", all[0].Detail, all[3].Detail, all[4].Detail)
	}
	if again, broken := events.Decode(events.Encode(all[0])); broken != 0 || again[0].Host != "host-1" {
		t.Errorf("kept is %+v", again)
	}
	page := pageOf(s)
	for _, want := range []string{`onprem_dhcp_answers_total{message="offer"} 1`, `onprem_dhcp_answers_total{message="ack"} 1`, `onprem_dhcp_answers_total{message="nak"} 0`, "onprem_dhcp_ignored_total 1"} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no %s in\n%s", want, page)
		}
	}
}

// TestSeen_Foreign holds that a server is new once, over restarts too.
func TestSeen_Foreign(t *testing.T) {
	p := planned(plans.Managed).Provisioning
	s := NewSeen(p, provision.Bootstrap, foreign.List{})
	o := offer.Server{Kind: offer.DHCP, MAC: "02:00:00:00:00:01", ID: netip.MustParseAddr("172.22.0.9"), Last: time.Unix(1, 0)}
	list, first := s.Foreign(o)
	if first == nil || first.Address != o.ID || len(list.Servers) != 1 {
		t.Errorf("first %v, %+v", first, list)
	}
	if list, first = s.Foreign(o); first != nil || list.Servers[0].Count != 2 {
		t.Errorf("again %v, %+v", first, list)
	}
	if list, first = NewSeen(p, provision.Bootstrap, list).Foreign(o); first != nil || list.Servers[0].Count != 3 {
		t.Errorf("after a restart %v, %+v", first, list)
	}
	if page := pageOf(s); !strings.Contains(page, `onprem_dhcp_foreign_total{kind="dhcp"} 2`) || !strings.Contains(page, `onprem_dhcp_foreign_total{kind="dhcpv6"} 0`) {
		t.Errorf("got\n%s", page)
	}
	if expected := s.Expected(); !expected.Has(offer.Server{ID: p.IP}) || expected.Has(o) || expected.Has(offer.Server{ID: p.BootstrapIP}) {
		t.Errorf("expected are %+v", expected)
	}
	p.ExpectedServers = []string{"172.22.0.9"}
	if expected := NewSeen(p, provision.Bootstrap, foreign.List{}).Expected(); !expected.Has(o) || !expected.Has(offer.Server{ID: p.IP}) {
		t.Errorf("with a server of the user's expected are %+v", expected)
	}
	p.Address, p.ExpectedServers = plans.One, nil
	if expected := NewSeen(p, provision.Bootstrap, foreign.List{}).Expected(); !expected.Empty() {
		t.Errorf("with one address %+v is expected of another host", expected)
	}
}

func pageOf(s *Seen) string {
	var page metrics.Page
	s.Metrics(&page)
	return string(page.Text())
}

func TestMetrics(t *testing.T) {
	r, h := newRoom(t, plans.Managed)
	h.on(card(1), card(2))
	text := func() string {
		var page metrics.Page
		r.Metrics(&page)
		return string(page.Text())
	}
	if err := round(t, r, h); err != nil || !strings.Contains(text(), "onprem_dhcp_serving 1\n") || !strings.Contains(text(), "onprem_dhcp_hosts 2\n") {
		t.Errorf("%v:\n%s", err, text())
	}
	h.off()
	if err := round(t, r, h); err != nil || !strings.Contains(text(), "onprem_dhcp_serving 0\n") || !strings.Contains(text(), "onprem_dhcp_hosts 0\n") {
		t.Errorf("%v:\n%s", err, text())
	}
}
