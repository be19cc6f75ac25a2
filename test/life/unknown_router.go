package life

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// UnknownRouter is what a host that is not the cluster's announces by VRRP, to the group.
type UnknownRouter struct {
	Name     string
	IP, VIP  netip.Addr
	ID       vrrp.ID
	Version  vrrp.Version
	Priority vrrp.Priority
	Advert   time.Duration
}

// AddUnknownRouter plugs a foreign host into the switch and has a real keepalived on it announce s,
// until Close.
func (l *Life) AddUnknownRouter(ctx context.Context, s UnknownRouter) (*lab.Host, *chain.Keepalived, error) {
	host, err := l.Host(s.Name, s.IP)
	if err != nil {
		return nil, nil, err
	}
	dir := filepath.Join(l.Machine.Scratch(), s.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, err
	}
	k := chain.NewKeepalived(host, dir)
	l.foreign = append(l.foreign, k)
	return host, k, k.Start(ctx, keepalived.Config{Instances: []keepalived.Instance{{
		Name: vrrp.InstanceName(s.Name), Interface: "eth0", ID: s.ID, Version: s.Version, Priority: s.Priority, Advert: s.Advert, VIP: s.VIP,
	}}})
}
