package netboot

import (
	"bytes"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestRouterAdvertisement holds that hosts get no default route over IPv6: each advertisement has
// the lifetime 0. It has the MTU if one is stated, and sends hosts to DHCP for their addresses.
func TestRouterAdvertisement(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	n := network6("fd00:22::2", card(10))
	n.MTU = 1400
	w := openWire(t, add(t, l, "client"))
	serve(t, add(t, l, "server", "fd00:22::2/64"), n)
	if err := w.file.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	for buffer := make([]byte, 1<<16); ; {
		size, err := w.file.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		p := buffer[:size]
		if size < 14+40+16 || p[12] != 0x86 || p[13] != 0xdd || p[20] != 58 || p[54] != 134 {
			continue
		}
		// RFC 4861 4.2: hop limit, flags, lifetime of the router; then options.
		const managed, other = 0x80, 0x40
		if flags := p[59]; flags != managed|other || p[60] != 0 || p[61] != 0 {
			t.Errorf("flags %x and lifetime %x, want managed and other, and 0", flags, p[60:62])
		}
		if mtu := []byte{5, 1, 0, 0, 0, 0, 1400 >> 8, 1400 & 0xff}; !bytes.Contains(p[70:], mtu) {
			t.Errorf("no MTU in %x", p[70:])
		}
		return
	}
}
