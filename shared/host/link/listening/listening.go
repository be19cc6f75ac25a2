// Package listening finds out whether a process of this host listens at a TCP port.
package listening

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// tcpListen is the state of a socket that listens (enum of include/net/tcp_states.h of Linux).
const tcpListen = 10

// At reports whether a process of this host listens at a TCP port, at whatever address. It asks
// the kernel: the process gets no connection, which a server would have to end, and some servers
// do not survive one that is reset at once.
func At(port uint16) (bool, error) {
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		question := nl.NewNetlinkRequest(nl.SOCK_DIAG_BY_FAMILY, unix.NLM_F_DUMP)
		question.AddData(request{family, port})
		found, err := question.Execute(unix.NETLINK_SOCK_DIAG, 0)
		if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
			return false, fmt.Errorf("ask for a listener at port %d: %w", port, err)
		}
		if len(found) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// request is the kernel's struct inet_diag_req_v2 for sockets of a family that listen at a port.
type request struct {
	family uint8
	port   uint16
}

// Len is the size of the struct.
func (request) Len() int { return 56 }

// Serialize writes it: the port as on the wire, the rest in the machine's order.
func (r request) Serialize() []byte {
	out := make([]byte, r.Len())
	out[0], out[1] = r.family, unix.IPPROTO_TCP
	nl.NativeEndian().PutUint32(out[4:], 1<<tcpListen)
	out[8], out[9] = byte(r.port>>8), byte(r.port)
	return out
}
