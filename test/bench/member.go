package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// apart is how far repetitions are from each other at the least: a storm of changes reaches the
// list of ingress candidates at a pace of its own.
const apart = 10 * time.Second

// memberChange takes a node that does not hold the VIP out of the API's list, and puts it in again.
// The figure is the longer of the two times until every other node's balancer, keepalived and name
// server know.
func memberChange(ctx context.Context, s *stage, holder *life.Node, m *measured) (time.Duration, error) {
	i := slices.IndexFunc(s.Nodes, func(n *life.Node) bool { return n != holder })
	member := s.Nodes[i]
	others := slices.DeleteFunc(slices.Clone(s.Nodes), func(n *life.Node) bool { return n == member })
	if _, err := s.learnt(ctx, others, member, true, &measured{parts: map[string]time.Duration{}}); err != nil {
		return 0, err
	}
	before, err := workers(others)
	if err != nil {
		return 0, err
	}
	if err := pause(ctx, apart); err != nil {
		return 0, err
	}
	m.at = time.Now()
	if err := holder.API.Admin().Do(ctx, http.MethodDelete, "/api/v1/nodes/"+member.Name, nil, nil); err != nil {
		return 0, err
	}
	gone, err := s.learnt(ctx, others, member, false, m)
	if err != nil {
		return 0, err
	}
	if err := pause(ctx, quiet); err != nil {
		return 0, err
	}
	again := time.Now()
	if err := member.Register(ctx, holder.API); err != nil {
		return 0, err
	}
	back, err := s.learnt(ctx, others, member, true, m)
	if err != nil {
		return 0, err
	}
	if after, err := workers(others); err != nil || !slices.Equal(before, after) {
		m.faults = append(m.faults, fmt.Sprintf("HAProxy was reloaded: processes %v became %v (%v)", before, after, err))
	}
	return max(gone.Sub(m.at), back.Sub(again)), nil
}

// workers are the processes of HAProxy that serve; a reload has others.
func workers(nodes []*life.Node) (pids []int, err error) {
	for _, n := range nodes {
		worker, err := n.Child(life.HAProxy, "haproxy")
		if err != nil {
			return nil, err
		}
		pids = append(pids, worker.PID)
	}
	return pids, nil
}

// learnt waits until every one of some nodes knows that a member is there, or that it is not, and
// takes note of how long each part of them takes.
func (s *stage) learnt(ctx context.Context, nodes []*life.Node, member *life.Node, there bool, m *measured) (time.Time, error) {
	begin, word := time.Now(), map[bool]string{true: "joined", false: "left"}[there]
	checks := map[string]func(*life.Node, *life.Node) (bool, error){"balancer": s.balances, "keepalived": peers, "name server": resolves}
	var mu sync.Mutex
	var waits []func() error
	for part, observe := range checks {
		waits = append(waits, func() error {
			err := life.Until(ctx, patience, func() error {
				for _, n := range nodes {
					if found, err := observe(n, member); err != nil {
						return fmt.Errorf("the %s of %s: %w", part, n.Name, err)
					} else if found != there {
						return fmt.Errorf("the %s of %s has %s: %t", part, n.Name, member.Name, found)
					}
				}
				return nil
			})
			mu.Lock()
			defer mu.Unlock()
			m.parts[part+" "+word] = time.Since(begin)
			return err
		})
	}
	err := life.Together(waits...)
	return time.Now(), err
}

// balances reports whether a node's HAProxy has a server that is another node's.
func (s *stage) balances(n, member *life.Node) (bool, error) {
	conn, err := n.Host.Dial(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", s.Plan.Ports[port.LBStats]))
	if err != nil {
		return false, err
	}
	defer conn.Close()
	text, err := get(conn, "/haproxy_stats;csv")
	if err != nil {
		return false, err
	}
	stats, err := haproxy.ParseStats(text)
	return slices.ContainsFunc(stats, func(one haproxy.Stat) bool {
		return one.Backend == haproxy.Masters && !one.Disabled() && one.Address.Addr() == member.IP
	}), err
}

// get asks for a path by HTTP on a connection.
func get(conn net.Conn, path string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(conn.SetDeadline(time.Now().Add(time.Second)), request.Write(conn)); err != nil {
		return nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

// peers reports whether a node's keepalived, with the running configuration, speaks to another
// node.
func peers(n, member *life.Node) (bool, error) {
	status, err := n.Status()
	if err != nil {
		return false, err
	}
	config, err := os.ReadFile(filepath.Join(n.Root, "run/onprem-infra/keepalived", supervised.CandidateText))
	if err != nil {
		return false, err
	}
	if supervised.Digest(config) != status.Applied {
		return false, errors.New("its newest configuration is not in force yet")
	}
	return mentions(config, member), nil
}

// resolves reports whether a node's name server knows another node's name.
func resolves(n, member *life.Node) (bool, error) {
	hosts, err := os.ReadFile(filepath.Join(n.Root, corefile.HostsPath))
	return mentions(hosts, member), err
}

// mentions reports whether a file has a node's address as a word.
func mentions(text []byte, n *life.Node) bool {
	return slices.Contains(strings.FieldsFunc(string(text), func(r rune) bool { return !strings.ContainsRune("0123456789.", r) }), n.IP.String())
}
