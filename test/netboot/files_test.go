package netboot

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestTFTP fetches a boot program of a megabyte and autoexec.ipxe, which newer releases of iPXE
// ask for first, as a ROM does: from the server, by the name that DHCP gave, in large blocks.
func TestTFTP(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, address, prefix string
	}{
		{"IPv4", "172.22.0.2", "/24"}, {"IPv6", "fd00:22::2", "/64"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := lab.New(t)
			n := network4(tt.address, card(10))
			if tt.name == "IPv6" {
				n = network6(tt.address, card(10))
			}
			s := serve(t, add(t, l, "server", tt.address+tt.prefix), n)
			program := make([]byte, 1<<20+17)
			_, _ = rand.Read(program)
			for name, contents := range map[string][]byte{"snponly.efi": program, "secret": nil} {
				path := filepath.Join(s.network.Paths.TFTP, name)
				if name == "secret" {
					path = filepath.Join(s.network.Paths.TFTP, "..", name)
				}
				if err := os.WriteFile(path, contents, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			client := netip.MustParsePrefix(tt.address + tt.prefix).Addr().Next().Next()
			h := add(t, l, "client", client.String()+tt.prefix)
			server := netip.AddrPortFrom(n.Server, 69)
			got, err := fetch(h, server, "snponly.efi")
			if err != nil || !bytes.Equal(got, program) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			got, err = fetch(h, server, "autoexec.ipxe")
			if err != nil || !bytes.HasPrefix(got, []byte("#!ipxe\n")) ||
				!bytes.HasSuffix(got, []byte("\nautoboot\n")) {
				t.Errorf("got %q, %v", got, err)
			}
			for _, name := range []string{"none.efi", "../secret"} {
				if got, err := fetch(h, server, name); err == nil {
					t.Errorf("%s: got %q", name, got)
				}
			}
		})
	}
}

// fetch reads a file by TFTP (RFC 1350, RFC 2348).
func fetch(h *lab.Host, from netip.AddrPort, name string) (file []byte, err error) {
	conn, err := h.ListenPacket(netip.AddrPortFrom(unspecified(from.Addr()), 0).String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	to := net.Addr(net.UDPAddrFromAddrPort(from))
	send := []byte("\x00\x01" + name + "\x00octet\x00blksize\x001468\x00")
	size := 512
	for buffer := make([]byte, 2048); ; {
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			return nil, err
		}
		if _, err := conn.WriteTo(send, to); err != nil {
			return nil, err
		}
		n, peer, err := conn.ReadFrom(buffer)
		if err != nil {
			return nil, err
		}
		to = peer
		switch p := buffer[:n]; binary.BigEndian.Uint16(p) {
		case 6: // the server's answer to the size of blocks: it may want smaller ones
			_, text, _ := bytes.Cut(p[2:], []byte{0})
			if size, err = strconv.Atoi(string(bytes.TrimRight(text, "\x00"))); err != nil {
				return nil, err
			}
			send = []byte{0, 4, 0, 0}
		case 3:
			if int(binary.BigEndian.Uint16(p[2:])) == (len(file)/size+1)&0xffff {
				file = append(file, p[4:]...)
			}
			send = []byte{0, 4, p[2], p[3]}
			if n < 4+size {
				_, err := conn.WriteTo(send, to)
				return file, err
			}
		default:
			return nil, fmt.Errorf("the server refuses: %q", p[4:])
		}
	}
}

func unspecified(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}
