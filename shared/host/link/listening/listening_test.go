package listening

import (
	"net"
	"testing"
	"time"
)

// TestAt holds that a listener is found at whichever address, that its server notices nothing of the question,
// and that neither its end nor a connection to the port is taken for one.
func TestAt(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s: %v", address, err)
			continue
		}
		port := listener.Addr().(*net.TCPAddr).Port
		if is, err := At(uint16(port)); err != nil || !is {
			t.Errorf("%s: %t, %v", address, is, err)
		}
		if err := listener.(*net.TCPListener).SetDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if conn, err := listener.Accept(); err == nil {
			t.Errorf("%s: the server got a connection from %s", address, conn.RemoteAddr())
		}
		if err := listener.(*net.TCPListener).SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		server, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		listener.Close()
		if is, err := At(uint16(port)); err != nil || is {
			t.Errorf("%s: it has ended: %t, %v", address, is, err)
		}
	}
}
