package main

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/life"
)

// asked are the requests of a node's kubelet, whose credentials the monitors have, by verb, on all
// API servers since they run.
func asked(l *life.Life, n *life.Node) (map[string]int, error) {
	verbs := map[string]int{}
	for _, m := range l.Nodes {
		requests, err := m.API.Requests("system:node:" + n.Name)
		if err != nil {
			return nil, err
		}
		for _, request := range requests {
			verb, _, _ := strings.Cut(request, " ")
			verbs[verb]++
		}
	}
	return verbs, nil
}

// more is what has been added to a count.
func more(before, after map[string]int) map[string]int {
	grown := map[string]int{}
	for verb, n := range after {
		if n > before[verb] {
			grown[verb] = n - before[verb]
		}
	}
	return grown
}

// volume is what a connection has carried, in bytes.
type volume struct{ sent, read int64 }

// carried reads the connections of a node's programs of ours to the API, by their ends. The kernel
// counts what a connection has carried.
func carried(ctx context.Context, l *life.Life, n *life.Node) (map[string]volume, error) {
	out, err := n.Host.Command(ctx, "ss", "-HtinpO", "state", "established").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("list the connections of %s: %w: %s", n.Name, err, out)
	}
	found := map[string]volume{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.Contains(line, `"onprem-infra"`) {
			continue
		}
		to, err := netip.ParseAddrPort(fields[3])
		if err != nil || to.Port() != 6443 || to.Addr().IsLoopback() {
			continue
		}
		var b volume
		for _, field := range fields {
			if text, ok := strings.CutPrefix(field, "bytes_sent:"); ok {
				b.sent, _ = strconv.ParseInt(text, 10, 64)
			}
			if text, ok := strings.CutPrefix(field, "bytes_received:"); ok {
				b.read, _ = strconv.ParseInt(text, 10, 64)
			}
		}
		found[fields[2]+" "+fields[3]] = b
	}
	return found, nil
}

// since is what the connections of now have carried since before.
func since(before, now map[string]volume) (b volume) {
	for ends, one := range now {
		b.sent += one.sent - before[ends].sent
		b.read += one.read - before[ends].read
	}
	return b
}
