package services

import (
	"net"
	"net/netip"
	"testing"
)

// TestFirst_Answered holds which host has a VIP: a host that takes a connection, and one that refuses it.
// A host without the address has not answered.
func TestFirst_Answered(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	loopback, taken := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddrPort(listener.Addr().String()).Port()
	if !(First{port: taken}).Answered(t.Context(), loopback) {
		t.Error("a host that takes connections has not the VIP")
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	if !(First{port: taken}).Answered(t.Context(), loopback) {
		t.Error("a host that refuses connections has not the VIP")
	}
	if (First{port: taken}).Answered(t.Context(), netip.MustParseAddr("ff02::1")) {
		t.Error("an address that no host can have was answered")
	}
}
