package nft

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Memo is Present for repeated calls: it reads the rules only if a program has changed the packet
// filter since. The zero value has read nothing. Any goroutine may call its method.
type Memo struct {
	mu      sync.Mutex
	known   bool
	rules   redirect.Rules
	at      uint32 // the generation
	present bool
}

// Present reports whether our table holds exactly these rules, as the function of that name does.
func (m *Memo) Present(r redirect.Rules) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// A change while the rules are read makes a later generation, so that the next call reads
	// again.
	now, err := generation()
	if err != nil {
		return false, err
	}
	if m.known && m.at == now && reflect.DeepEqual(m.rules, r) {
		return m.present, nil
	}
	m.known = false
	present, err := Present(r)
	if err != nil {
		return false, err
	}
	m.known, m.at, m.rules, m.present = true, now, r, present
	return present, nil
}

// The query for the generation (linux/netfilter/nf_tables.h, nfnetlink.h).
const (
	nfgenSize    = 4 // of struct nfgenmsg
	getGen       = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETGEN
	attributeGen = 1 // NFTA_GEN_ID, in network byte order
)

// generation is the number of the packet filter's state in this network namespace: every
// transaction makes another one.
func generation() (uint32, error) {
	id, err := askGeneration()
	if err != nil {
		return 0, fmt.Errorf("ask netfilter for its generation: %w", err)
	}
	return id, nil
}

func askGeneration() (uint32, error) {
	conn, err := netlink.Dial(unix.NETLINK_NETFILTER, nil)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	answers, err := conn.Execute(netlink.Message{
		Header: netlink.Header{Type: getGen, Flags: netlink.Request}, Data: make([]byte, nfgenSize),
	})
	if err != nil {
		return 0, err
	}
	if len(answers) == 0 || len(answers[0].Data) < nfgenSize {
		return 0, errors.New("unexpected answer")
	}
	return readGeneration(answers[0].Data[nfgenSize:])
}

// readGeneration finds the number among the attributes of an answer.
func readGeneration(attributes []byte) (uint32, error) {
	d, err := netlink.NewAttributeDecoder(attributes)
	if err != nil {
		return 0, err
	}
	d.ByteOrder = binary.BigEndian
	for d.Next() {
		if d.Type() == attributeGen {
			id := d.Uint32()
			return id, d.Err()
		}
	}
	return 0, cmp.Or(d.Err(), errors.New("the answer has no generation"))
}
