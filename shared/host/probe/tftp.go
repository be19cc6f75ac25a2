package probe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// The messages of TFTP (RFC 1350 5), and the most that one of them has without options.
const (
	tftpRead, tftpData, tftpAck, tftpError = 1, 3, 4, 5

	maxTFTP = 4 + 512
)

// TFTPRefused is what a server answers that does not send the file.
type TFTPRefused struct {
	Code uint16
	Text string // as it was received: it is printed quoted
}

func (r TFTPRefused) Error() string {
	return fmt.Sprintf("the TFTP server refuses the file: error %d, %q", r.Code, r.Text)
}

// TFTP asks a server for a file, which has less than 512 bytes, and acknowledges it: the server's
// transfer has ended then. It returns nil when the file comes, a TFTPRefused if the server answers
// otherwise, and another error if nothing comes before ctx ends.
func TFTP(ctx context.Context, server netip.AddrPort, file string) error {
	network := "udp4"
	if server.Addr().Is6() {
		network = "udp6"
	}
	var config net.ListenConfig
	conn, err := config.ListenPacket(ctx, network, ":0")
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	request := fmt.Appendf(binary.BigEndian.AppendUint16(nil, tftpRead), "%s\x00octet\x00", file)
	if _, err := conn.WriteTo(request, net.UDPAddrFromAddrPort(server)); err != nil {
		return err
	}
	packet := make([]byte, maxTFTP)
	for {
		n, from, err := conn.ReadFrom(packet)
		if err != nil && ctx.Err() != nil {
			return fmt.Errorf("the TFTP server at %s does not answer: %w", server, ctx.Err())
		}
		if err != nil {
			return err
		}
		// The answer comes from another port of the server (RFC 1350 4).
		udp, ok := from.(*net.UDPAddr)
		if !ok || udp.AddrPort().Addr().Unmap().WithZone("") != server.Addr().WithZone("") {
			continue
		}
		if err := readTFTP(packet[:n]); err != nil {
			return err
		}
		_, err = conn.WriteTo([]byte{0, tftpAck, 0, 1}, from)
		return err
	}
}

// readTFTP reads the first answer to a request.
func readTFTP(packet []byte) error {
	if len(packet) < 4 {
		return errors.New("the TFTP server sent less than a message")
	}
	number := binary.BigEndian.Uint16(packet[2:])
	switch binary.BigEndian.Uint16(packet) {
	case tftpData:
		if number == 1 {
			return nil
		}
	case tftpError:
		text, _, _ := bytes.Cut(packet[4:], []byte{0})
		return TFTPRefused{number, string(text)}
	}
	return errors.New("the TFTP server sent no first block")
}
