// Package ipmi finds out whether a BMC answers IPMI, by the presence ping of RMCP (ASF 2.0). The
// ping needs no session and carries no secret.
package ipmi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"
)

// Pong is a BMC's answer.
type Pong struct {
	Seen bool
	IPMI bool // whether it reports support of IPMI
	// Refused is whether the host reports that nothing listens at the port.
	Refused bool
	Why     string // why there is no answer
}

// Port is where BMCs listen.
const Port = "623"

// The presence ping: an RMCP header of class ASF, and ASF's message without data.
const (
	version    = 0x06
	noAck      = 0xff
	classASF   = 0x06
	enterprise = 4542 // ASF's
	ping       = 0x80
	pong       = 0x40
	headerSize = 12
	pongSize   = headerSize + 16
	entities   = headerSize + 8 // where a pong has the supported entities
	hasIPMI    = 0x80
)

// attempts is how often the ping is sent: UDP loses packets.
const attempts = 3

// Ping asks a BMC at HOST or HOST:PORT whether it is there. It sends up to three pings, and waits
// for an answer to each for wait, or for a second if that is 0.
func Ping(ctx context.Context, address string, wait time.Duration) Pong {
	if wait == 0 {
		wait = time.Second
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		address = net.JoinHostPort(strings.Trim(address, "[]"), Port)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", address)
	if err != nil {
		return failed(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	why := error(errors.New("no answer"))
	for range attempts {
		if ctx.Err() != nil {
			return failed(ctx.Err())
		}
		got, err := exchange(conn, wait)
		if err == nil {
			return got
		}
		why = err
	}
	return failed(why)
}

// exchange sends one ping and reads answers until one is its pong.
func exchange(conn net.Conn, wait time.Duration) (Pong, error) {
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return Pong{}, err
	}
	if _, err := conn.Write(message()); err != nil {
		return Pong{}, err
	}
	buffer := make([]byte, 512)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return Pong{}, err
		}
		if got, ok := parse(buffer[:n]); ok {
			return got, nil
		}
	}
}

func message() []byte {
	out := []byte{version, 0, noAck, classASF}
	out = binary.BigEndian.AppendUint32(out, enterprise)
	return append(out, ping, 0, 0, 0)
}

// parse reads a pong. Its tag does not count: all pings are alike.
func parse(packet []byte) (Pong, bool) {
	if len(packet) < pongSize || packet[0] != version || packet[3]&0x1f != classASF ||
		binary.BigEndian.Uint32(packet[4:]) != enterprise || packet[8] != pong {
		return Pong{}, false
	}
	return Pong{Seen: true, IPMI: packet[entities]&hasIPMI != 0}, true
}

func failed(err error) Pong {
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Pong{Refused: true, Why: "nothing listens at the port"}
	case errors.As(err, &timeout) && timeout.Timeout():
		return Pong{Why: fmt.Sprintf("no answer to %d pings", attempts)}
	}
	return Pong{Why: err.Error()}
}
