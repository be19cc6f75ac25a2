package nft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Memo is Present for repeated calls: all rules are read only if a program has changed the packet
// filter since. The zero value has seen nothing. Its method may be called by any goroutine.
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
	// What is changed while the rules are read belongs to a later generation, so that they are read
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

// The parts of the question for the generation (linux/netfilter/nf_tables.h, nfnetlink.h).
const (
	nfgenSize    = 4 // of struct nfgenmsg
	getGen       = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETGEN
	newGen       = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWGEN
	attributeGen = 1 // NFTA_GEN_ID, in network byte order
)

// generation is the number of the packet filter's state in this network: every transaction makes
// another one.
func generation() (id uint32, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("ask netfilter for its generation: %w", err)
		}
	}()
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	question := make([]byte, unix.SizeofNlMsghdr+nfgenSize)
	binary.NativeEndian.PutUint32(question, uint32(len(question)))
	binary.NativeEndian.PutUint16(question[4:], getGen)
	binary.NativeEndian.PutUint16(question[6:], unix.NLM_F_REQUEST)
	kernel := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	if err := unix.Sendto(fd, question, 0, kernel); err != nil {
		return 0, err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return 0, err
	}
	messages, err := syscall.ParseNetlinkMessage(answer[:n])
	if err != nil {
		return 0, err
	}
	for _, m := range messages {
		switch {
		case m.Header.Type == unix.NLMSG_ERROR && len(m.Data) >= 4:
			return 0, syscall.Errno(-int32(binary.NativeEndian.Uint32(m.Data)))
		case m.Header.Type == newGen && len(m.Data) >= nfgenSize:
			return readGeneration(m.Data[nfgenSize:])
		}
	}
	return 0, errors.New("unexpected answer")
}

// readGeneration finds the number among the attributes of an answer.
func readGeneration(attributes []byte) (uint32, error) {
	for len(attributes) >= unix.SizeofNlAttr {
		size := int(binary.NativeEndian.Uint16(attributes))
		kind := binary.NativeEndian.Uint16(attributes[2:])
		kind &^= unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER
		if size < unix.SizeofNlAttr || size > len(attributes) {
			break
		}
		if kind == attributeGen && size >= unix.SizeofNlAttr+4 {
			return binary.BigEndian.Uint32(attributes[unix.SizeofNlAttr:]), nil
		}
		attributes = attributes[min((size+3)&^3, len(attributes)):]
	}
	return 0, errors.New("the answer has no generation")
}
