package clients

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clients"
)

// Exchange carries reports between this node and its peers, by UDP.
type Exchange struct {
	port     uint16 // the same on every node
	identity *clients.Identity
	log      *slog.Logger

	mu    sync.Mutex
	conn  *net.UDPConn // nil while Run does not run
	peers map[clients.Sender]peer
}

type peer struct {
	clients.Peer
	channel *clients.Channel
}

// NewExchange has a new key and no peers.
func NewExchange(port uint16, log *slog.Logger) (*Exchange, error) {
	identity, err := clients.NewIdentity()
	if err != nil {
		return nil, err
	}
	return &Exchange{port: port, identity: identity, log: log}, nil
}

// Key is what this node publishes.
func (e *Exchange) Key() string { return e.identity.Public() }

// SetPeers replaces the peers. A peer with the same key as before keeps its channel. It leaves
// out this node itself, and peers without a key, such as nodes of a former release. If two peers
// claim one key, the first counts: a node may publish another one's.
func (e *Exchange) SetPeers(all []clients.Peer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	former := e.peers
	e.peers = map[clients.Sender]peer{}
	for _, p := range all {
		channel, err := e.identity.Channel(p.Key, time.Now())
		if err != nil || p.Key == e.Key() {
			continue
		}
		if _, taken := e.peers[channel.Peer()]; taken {
			continue
		}
		if known, ok := former[channel.Peer()]; ok && known.Key == p.Key {
			channel = known.channel
		}
		e.peers[channel.Peer()] = peer{p, channel}
	}
}

// sendWithin is how long one datagram may wait for room.
const sendWithin = 5 * time.Millisecond

// Send sends a report to each peer of the VIP's, to its first address of the VIP's family. One that
// cannot be reached gets the next report.
func (e *Exchange) Send(vip netip.Addr, report []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conn == nil {
		return
	}
	for _, p := range e.peers {
		i := slices.IndexFunc(p.Addresses,
			func(a netip.Addr) bool { return a.BitLen() == vip.BitLen() })
		if i < 0 || !slices.Contains(p.VIPs, vip) {
			continue
		}
		to := netip.AddrPortFrom(p.Addresses[i], e.port)
		// A peer that is gone may fill the socket's queue while the kernel asks for its MAC.
		_ = e.conn.SetWriteDeadline(time.Now().Add(sendWithin))
		_, _ = e.conn.WriteToUDPAddrPort(p.channel.Seal(report), to)
	}
}

// Run opens the port at every address of the host, and passes on what peers report, until ctx ends.
// Datagrams that are no reports of peers are dropped.
func (e *Exchange) Run(ctx context.Context, received func(report []byte, of []netip.Addr)) error {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{Port: int(e.port)})
	if err != nil {
		return fmt.Errorf("receive reports of clients: %w", err)
	}
	e.use(conn)
	defer func() {
		e.use(nil)
		_ = conn.Close()
	}()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	buffer := make([]byte, 2048)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("receive reports of clients: %w", err)
		}
		p, report, err := e.open(buffer[:n])
		if err != nil {
			e.log.Debug("drop a report of clients", "from", from, "error", err)
			continue
		}
		received(report, p.VIPs)
	}
}

// use sets the socket by which Send sends reports; nil for none.
func (e *Exchange) use(conn *net.UDPConn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conn = conn
}

func (e *Exchange) open(datagram []byte) (peer, []byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	sender, _ := clients.SenderOf(datagram)
	p, known := e.peers[sender]
	if !known {
		return peer{}, nil, errors.New("no peer has this key")
	}
	report, err := p.channel.Open(datagram)
	return p, report, err
}
