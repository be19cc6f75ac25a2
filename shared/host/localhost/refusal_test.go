package localhost

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestDialer_Refusals has a server start, stop and start again, at each loopback address: it is
// reached whenever it listens, and is refused otherwise.
func TestDialer_Refusals(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "::1"} {
		t.Run(host, func(t *testing.T) {
			listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
			if err != nil {
				need.Missing(t, "needs the loopback's addresses: "+err.Error())
			}
			port := listener.Addr().(*net.TCPAddr).Port
			address, k := fmt.Sprintf("localhost:%d", port), new(Dialer)
			for i, there := range []bool{true, false, false, true, false, true} {
				switch {
				case !there:
					listener.Close()
				case i > 0:
					if listener, err = net.Listen(
						"tcp", net.JoinHostPort(host, fmt.Sprint(port)),
					); err != nil {
						t.Fatal(err)
					}
				}
				if there == isClosed(address) {
					t.Errorf("attempt %d: closed is %t", i, there)
				}
				conn, err := k.Dial(t.Context(), "tcp", address)
				if (err == nil) != there || err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("attempt %d: %v, listens: %t", i, err, there)
				}
				if conn != nil {
					conn.Close()
				}
			}
			listener.Close()
		})
	}
	resting, address := &Dialer{Rest: time.Hour}, "localhost:1"
	for range 2 {
		if _, err := resting.Dial(
			t.Context(), "tcp", address,
		); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("without a listener: %v", err)
		}
	}
	first := resting.refused[address].at
	resting.Rest = 0
	if _, err := resting.Dial(t.Context(), "tcp", address); err == nil ||
		!resting.refused[address].at.After(first) {
		t.Error("no attempt after the rest")
	}
	resting.Rest = time.Hour
	last := resting.refused[address].at
	if _, err := resting.Dial(t.Context(), "tcp", address); err == nil ||
		resting.refused[address].at != last {
		t.Error("an attempt during the rest")
	}
	if isClosed("192.0.2.1:1") || isClosed("localhost") || isClosed("localhost:x") {
		t.Error("another host, or none, is reported as refusing")
	}
}

// TestClosed holds that a server which listens at one of the addresses alone is found, and has no
// connection left of the question.
func TestClosed(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "[::]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			need.Missing(t, "needs the loopback's addresses: "+err.Error())
		}
		port := uint16(listener.Addr().(*net.TCPAddr).Port)
		if Closed(port) {
			t.Errorf("%s: closed", address)
		}
		conn, err := listener.Accept()
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
			conn.Close()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: the server has %v, want the connection's end", address, err)
		}
		listener.Close()
		if !Closed(port) {
			t.Errorf("%s: open without a listener", address)
		}
	}
}

// TestClosed_NoSocket holds that a question which could not be put is no answer: a process that may open no
// file more finds no port closed, though nothing listens there.
func TestClosed_NoSocket(t *testing.T) {
	const port = 1
	if !Closed(port) {
		need.Missing(t, "needs port 1, at which a process listens")
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	closed := Closed(port)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if closed {
		t.Error("closed, and no socket was there for the question")
	}
}
