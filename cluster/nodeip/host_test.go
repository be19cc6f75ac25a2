package nodeip

import (
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// memory is a host without a machine: files in a map, and interfaces that a test sets.
type memory struct {
	links   addr.Snapshot
	linkErr error
	files   map[string]string
	order   []string           // of what was written and removed
	full    string             // no file whose path holds this can be written
	unbound map[netip.Addr]int // how many trials an address cannot be bound for; negative: never
	binds   int
	kernel  map[string]string // settings

	mu sync.Mutex
}

// set changes the host while something is under way.
func (m *memory) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

func newMemory(links addr.Snapshot) *memory {
	return &memory{links: links, files: map[string]string{}, unbound: map[netip.Addr]int{}, kernel: map[string]string{}}
}

func (m *memory) Links() (addr.Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.links, m.linkErr
}

func (m *memory) Read(path string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, there := m.files[path]
	return []byte(text), there, nil
}

func (m *memory) Write(path string, text []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full != "" && strings.Contains(path, m.full) {
		return errors.New("no space left on device")
	}
	m.files[path] = string(text)
	m.order = append(m.order, "+"+path)
	return nil
}

func (m *memory) Remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, there := m.files[path]; there {
		m.order = append(m.order, "-"+path)
	}
	delete(m.files, path)
	return nil
}

func (m *memory) Bind(a netip.Addr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.binds++
	left := m.unbound[a]
	if left == 0 {
		return nil
	}
	m.unbound[a] = left - 1
	return errors.New("cannot assign requested address")
}

func (m *memory) Switch(path, value string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, there := m.kernel[path]
	if there {
		m.kernel[path] = value
	}
	return there, nil
}

// log is a logger that a test reads.
func log(t *testing.T) (*slog.Logger, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	return slog.New(slog.NewTextHandler(&out, nil)), &out
}

func link(index int, name string, prefixes ...string) addr.Link {
	l := addr.Link{Index: index, Name: name, Up: true}
	for _, p := range prefixes {
		l.Addresses = append(l.Addresses, addr.Address{Prefix: netip.MustParsePrefix(p)})
	}
	return l
}

// routed is a host with a default route of each family on its first interface.
func routed(links ...addr.Link) addr.Snapshot {
	return addr.Snapshot{Links: links, Routes: []addr.Route{
		{LinkIndex: links[0].Index, Destination: netip.MustParsePrefix("0.0.0.0/0"), Metric: 100},
		{LinkIndex: links[0].Index, Destination: netip.MustParsePrefix("::/0"), Metric: 100},
	}}
}

func addresses(words ...string) []netip.Addr {
	var list []netip.Addr
	for _, w := range words {
		list = append(list, netip.MustParseAddr(w))
	}
	return list
}
