//go:build remote

package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// runs are the daemons of this host beside their files. One of which nobody knows what it runs on
// is not among them.
func (l *doctorLook) runs(ctx context.Context, f *facts.Facts, kind role.Role) {
	runs := l.rooms(kind)
	for _, d := range []struct {
		name, path string
		here       bool
		digest     func(text []byte) (is, says string)
		force      func(ctx context.Context) (string, error)
	}{
		{"keepalived", keepalivedConf, runs.VIP && !f.Host.Remote, func(text []byte) (string, string) { return supervised.Digest(text), "" }, l.keepalivedRuns},
		{"HAProxy", haproxy.File, runs.LB, haproxy.Digest, l.haproxyRuns},
		{"CoreDNS", dns.Config, runs.DNS, corefile.Digest, l.coreDNSRuns},
	} {
		if !d.here {
			continue
		}
		force, err := d.force(ctx)
		if err != nil {
			l.unseen("what "+d.name+" runs on", err)
			continue
		}
		text, err := os.ReadFile(l.host.at(d.path))
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				l.unseen("what "+d.name+" is to run on", err)
			}
			continue
		}
		r := facts.Running{Daemon: d.name, Path: d.path, Loaded: force}
		r.Disk, r.Header = d.digest(text)
		f.Daemons.Running = append(f.Daemons.Running, r)
	}
}

// keepalivedRuns is nothing where its parent's word cannot be read, or there is none: that has been
// said.
func (l *doctorLook) keepalivedRuns(context.Context) (string, error) {
	status, err := l.host.Status()
	if err != nil {
		return "", nil
	}
	return status.Applied, nil
}

// haproxyRuns is what HAProxy has read, by its socket, and the servers that it has now.
func (l *doctorLook) haproxyRuns(ctx context.Context) (string, error) {
	bound, cancel := context.WithTimeout(ctx, doctorWithin)
	defer cancel()
	structure, err := l.asks.structure(bound)
	if err != nil {
		return "", err
	}
	stats, err := l.stats(bound)
	if err != nil {
		return "", err
	}
	is, ok := haproxy.Running(structure, stats)
	if !ok || is == "" {
		return "", errors.New("it does not say")
	}
	return is, nil
}

// coreDNSRuns is what whoever listens at CoreDNS's port says. Where it says nothing it is a CoreDNS
// of an earlier release, or no CoreDNS of ours.
func (l *doctorLook) coreDNSRuns(ctx context.Context) (string, error) {
	bound, cancel := context.WithTimeout(ctx, doctorWithin)
	defer cancel()
	said, err := l.asks.text(bound, string(corefile.Running))
	if err != nil {
		return "", err
	}
	if len(said) != 1 {
		return "", errors.New("it does not say")
	}
	return said[0], nil
}
