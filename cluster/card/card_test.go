package card

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// network is a FAKE kernel with one card, which it enables as it is asked to.
type network struct {
	card   addr.Ethernet
	cut    bool // the card gets no carrier
	fails  error
	orders []string

	first int // after so many answers the card is another one
	later mac.MAC
}

func (n *network) Cards() ([]addr.Ethernet, error) {
	if n.first--; n.first == -1 && n.later != (mac.MAC{}) {
		n.card.MAC = n.later
	}
	return []addr.Ethernet{n.card}, nil
}

func (n *network) SetUp(link string) error {
	n.orders = append(n.orders, "enable "+link)
	if n.fails == nil {
		n.card.Enabled, n.card.Carrier = true, !n.cut
	}
	return n.fails
}

func (n *network) MakeLinkLocal(link string) error {
	n.orders = append(n.orders, "link-local "+link)
	if n.fails == nil {
		n.card.Addresses = append(n.card.Addresses, netip.MustParsePrefix("fe80::5054:ff:fe00:1/64"))
	}
	return n.fails
}

func planned(cidr string) *provision.Plan {
	return &provision.Plan{CIDR: netip.MustParsePrefix(cidr), Hosts: []provision.Host{{MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 1}}}}
}

// TestKeeper holds which steps make a card ready, in their order, that none is made for one that is
// ready or belongs to no host, and that what fails is tried again.
func TestKeeper(t *testing.T) {
	down := addr.Ethernet{Name: "eno2", MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 1}}
	up, other := down, down
	up.Enabled, up.Carrier = true, true
	other.MAC = mac.MAC{2}
	for _, tt := range []struct {
		name, cidr string
		n          network
		want       string
	}{
		{"IPv4", "172.22.0.0/24", network{card: down}, "enable eno2"},
		{"IPv6", "fd00:22::/64", network{card: down}, "enable eno2, link-local eno2"},
		{"ready", "172.22.0.0/24", network{card: up}, ""},
		{"an address is missing", "fd00:22::/64", network{card: up}, "link-local eno2"},
		{"no cable", "fd00:22::/64", network{card: down, cut: true}, "enable eno2"},
		{"the card of no host", "172.22.0.0/24", network{card: other}, ""},
		{"the kernel refuses", "172.22.0.0/24", network{card: down, fails: errors.New("no")}, "enable eno2, enable eno2, enable eno2, enable eno2"},
	} {
		k := &Keeper{Plan: planned(tt.cidr), Network: &tt.n}
		for range 4 {
			if _, err := k.round(); !errors.Is(err, tt.n.fails) {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		if got := strings.Join(tt.n.orders, ", "); got != tt.want {
			t.Errorf("%s: %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// TestKeeper_Disabled holds that a card which was disabled while this program ran stays so.
func TestKeeper_Disabled(t *testing.T) {
	n := &network{card: addr.Ethernet{Name: "eno2", MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 1}}}
	k := &Keeper{Plan: planned("172.22.0.0/24"), Network: n}
	for round := range 6 {
		if round == 2 {
			n.card.Enabled, n.card.Carrier = false, false
		}
		const want = "eno2 (52:54:00:00:00:01) of the provisioning network is down, and was disabled by another program"
		if why, err := k.round(); err != nil || strings.Contains(why, want) != (round >= 2) {
			t.Errorf("round %d: %s, %v", round, why, err)
		}
	}
	if !slices.Equal(n.orders, []string{"enable eno2"}) || n.card.Enabled {
		t.Errorf("%v, enabled %t", n.orders, n.card.Enabled)
	}
}

// TestKeeper_Run holds that a card which comes later is found, and that the log has a change once.
func TestKeeper_Run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		n := &network{card: addr.Ethernet{Name: "eno2", MAC: mac.MAC{2}}}
		n.later, n.first = mac.MAC{0x52, 0x54, 0, 0, 0, 1}, 3
		k := &Keeper{Plan: planned("172.22.0.0/24"), Network: n, Log: slog.New(slog.NewTextHandler(&log, nil))}
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- k.Run(ctx) }()
		time.Sleep(6*Interval - time.Second)
		end()
		if err := <-done; err != nil || !n.card.Enabled {
			t.Errorf("%v, enabled %t", err, n.card.Enabled)
		}
		if lines := strings.Count(log.String(), "\n"); lines != 3 || !strings.Contains(log.String(), "eno2 is ready") {
			t.Errorf("%d lines:\n%s", lines, log.String())
		}
	})
}
