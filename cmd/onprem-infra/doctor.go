//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// doctorLong is the help.
const doctorLong = `doctor looks for what is wrong. On a host of a live cluster it looks at what runs there, at who
answers for the VIPs on its network, and at what the other hosts say; on a plain host, with -c, at
whether a cluster can be made there. It prints what it found, the likeliest cause first: what was
looked at, what was seen, and what to do.

What it finds it looks at twice, so that a VIP which just moves is no finding. It changes nothing.
It asks who has each VIP (ARP, neighbour discovery), listens for adverts for some seconds, asks name
servers, time servers and API servers one or two questions each, and other hosts for an echo. It
says what it could not see: root sees all (capabilities NET_RAW and NET_ADMIN). On a terminal it
shows how far it is, and what the first look found.

On a plain host, --peer names other hosts of the cluster to be: whether packets, those that fill the
link, and VRRP reach them.

Exit code 0: nothing is wrong; 1: something is. With -o json it prints one object; its fields stay:
  at, cluster, live, nodeIPs, checks[] (their names, in the order of causes),
  findings[]{check,looked,seen,do}, unseen[] (what could not be looked at, in words)`

func doctorCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what is wrong with this host or its cluster, and what to do",
		Long:  doctorLong,
		Example: `  onprem-infra doctor
  onprem-infra doctor -c install-config.yaml --peer 192.0.2.22 --peer 192.0.2.23
  onprem-infra doctor -o json | jq '.findings[0]'`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	m := &monitor{}
	m.log, m.cluster = quiet(), plan.Path
	var peers []string
	var format string
	var joins, quiet bool
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	cmd.Flags().StringArrayVar(&peers, "peer", nil, "address of another host of the cluster to be; may be said several times")
	cmd.Flags().BoolVar(&joins, "joins", false, "the cluster lives, and this plain host is to join it: its VIPs are taken rightly")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "show no progress")
	completes(cmd, "output", []string{"text", "json"})
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if format != "text" && format != "json" {
			return usage("-o %q is not one of: text, json", format)
		}
		var others []netip.Addr
		for _, text := range peers {
			a, err := netip.ParseAddr(text)
			if err != nil {
				return usage("--peer %q is no address", text)
			}
			others = append(others, a)
		}
		look, err := newDoctorLook(std, m, in)
		if err != nil {
			return err
		}
		look.peers, look.joins = others, joins
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		look.progress = startProgress(std, quiet, "looking at this host and its network")
		report := look.examine(ctx)
		look.progress.Done()
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("it was stopped, and has not seen all: %w", err)
		}
		if err := printDoctor(std, report, format); err != nil {
			return err
		}
		if len(report.Findings) > 0 {
			return negative(nil)
		}
		return nil
	}
	return cmd
}

// doctorReport is what `doctor -o json` prints. It is public: fields may be added, and none goes or
// changes its meaning.
type doctorReport struct {
	At       time.Time        `json:"at"`
	Cluster  string           `json:"cluster"`
	Live     bool             `json:"live"` // this host has been given its files
	NodeIPs  []netip.Addr     `json:"nodeIPs"`
	Checks   []doctor.Name    `json:"checks"`
	Findings []doctor.Finding `json:"findings"`
	Unseen   []string         `json:"unseen"`
}

// again is how long after the first look the second one begins: an election, a check and a reload
// are over by then.
const again = time.Second

// examine looks, and where something is found looks again.
func (l *doctorLook) examine(ctx context.Context) doctorReport {
	l.turn = "first look"
	seen, unseen := l.facts(ctx)
	found := doctor.Examine(seen)
	if len(found) > 0 {
		l.turn = "second look"
		l.progress.Keep(doctorFirst(found))
		select {
		case <-ctx.Done():
		case <-time.After(l.again):
		}
		seen, unseen = l.facts(ctx)
		found = doctor.Lasting(found, doctor.Examine(seen))
	}
	r := doctorReport{At: l.now().UTC(), Cluster: seen.Plan.Cluster.Name, Live: seen.Live, NodeIPs: []netip.Addr{}, Checks: doctor.All(), Findings: []doctor.Finding{}, Unseen: []string{}}
	r.NodeIPs, r.Findings, r.Unseen = append(r.NodeIPs, seen.Host.Agreed...), append(r.Findings, found...), append(r.Unseen, unseen...)
	return r
}

// newDoctorLook finds out what this host is, or is to be.
func newDoctorLook(std streams, m *monitor, in *input) (*doctorLook, error) {
	live, err := exists(m.cluster)
	if err != nil {
		return nil, err
	}
	if !live {
		if in.file == "" {
			return nil, fmt.Errorf("this host has no %s, so it is not part of a cluster yet: name the description of its future cluster with -c", m.cluster)
		}
		described, err := loadCluster(std, in)
		if err != nil {
			return nil, err
		}
		p, err := plan.Compile(described)
		if err != nil {
			return nil, negative(err)
		}
		return newDoctor(p, m), nil
	}
	p, _, err := m.load(std)
	if err != nil {
		return nil, err
	}
	look := newDoctor(current(p, m.log), m)
	look.live, look.whole = true, p
	if in.file == "" {
		return look, nil
	}
	described, err := loadCluster(std, in)
	if err != nil {
		return nil, err
	}
	if len(described.Images) == 0 {
		described.Images = p.Images
	}
	wanted, err := plan.Compile(described)
	if err != nil {
		return nil, negative(errors.Join(errors.New("the cluster of -c"), err))
	}
	look.whole = wanted
	return look, nil
}
