package message_test

import (
	"bytes"
	"errors"
	"io"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
)

var router = netip.MustParseAddr("192.0.2.10")

// TestOpen holds that an OPEN is read as it was written, with numbers of two bytes and of four.
func TestOpen(t *testing.T) {
	for _, asn := range []bgp.ASN{64512, 65535, 65536, 4200000001} {
		want := message.Open{ASN: asn, Hold: 9, Router: router}
		text := want.Encode()
		m, err := message.Read(bytes.NewReader(append(text, text...)))
		if err != nil || m.Kind != message.KindOpen || !reflect.DeepEqual(*m.Open, want) {
			t.Errorf("%d: %+v, %v", asn, m, err)
		}
		short := int(text[20])<<8 | int(text[21])
		if four := asn > 0xffff; four != (short == 23456) || !four && short != int(asn) {
			t.Errorf("%d: its two bytes are %d", asn, short)
		}
	}
	// As FRR 8.4 sends it: one parameter for each capability.
	sent := []byte{4, 0x5b, 0xa0, 0, 9, 10, 1, 1, 1, 14, 2, 6, 1, 4, 0, 1, 0, 1, 2, 4, 65, 2, 0, 0, 2, 6}
	frame := append(bytes.Repeat([]byte{0xff}, 16), 0, byte(19+len(sent)+6), 1)
	sent[9] = 22
	m, err := message.Read(bytes.NewReader(append(append(frame, sent...), 65, 4, 0xfa, 0x56, 0xea, 0x01)))
	if err != nil || m.Open.ASN != 4200000001 || m.Open.Router != netip.MustParseAddr("10.1.1.1") {
		t.Errorf("%+v, %v", m.Open, err)
	}
}

// TestNotification holds what is read of one, and that FRR's form of it is understood.
func TestNotification(t *testing.T) {
	wrong := append(bytes.Repeat([]byte{0xff}, 16), 0, 23, 3, 2, 2, 0xfc, 0x01)
	m, err := message.Read(bytes.NewReader(wrong))
	if err != nil || m.Notification.ASN != 64513 || m.Notification.String() != "2/2" {
		t.Errorf("%+v, %v", m.Notification, err)
	}
	m, err = message.Read(bytes.NewReader(message.Cease().Encode()))
	if err != nil || *m.Notification != message.Cease() {
		t.Errorf("%+v, %v", m.Notification, err)
	}
	for text, want := range map[string]string{"0202": "2/2", "0607": "6/7", "060A": "6/10", "0400": "4/0", "0000": "", "": "", "06": "", "xyzw": "", "060a00": ""} {
		n, ok := message.ParseCode(text)
		if ok != (want != "") || ok && n.String() != want {
			t.Errorf("%q: %v, %v", text, n, ok)
		}
	}
	if n, _ := message.ParseCode("060A"); !strings.Contains(n.Do(), "3784") {
		t.Errorf("6/10: %q, %q", n.Words(), n.Do())
	}
	if n, _ := message.ParseCode("0607"); !strings.Contains(n.Do(), "source") {
		t.Errorf("6/7: %q, %q", n.Words(), n.Do())
	}
	for code := range 256 {
		for sub := range 256 {
			if (message.Notification{Code: uint8(code), Subcode: uint8(sub)}).Words() == "" {
				t.Fatalf("%d/%d has no words", code, sub)
			}
		}
	}
}

// TestRead_Hostile holds that whatever answers is more than an error at most.
func TestRead_Hostile(t *testing.T) {
	ff := bytes.Repeat([]byte{0xff}, 16)
	for name, text := range map[string][]byte{
		"HTTP": []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), "too long": append(bytes.Clone(ff), 0x10, 1, 1), "too short": append(bytes.Clone(ff), 0, 18, 4),
		"no OPEN": append(bytes.Clone(ff), 0, 19, 1), "half": append(bytes.Clone(ff), 0, 29, 1, 4), "unknown": append(bytes.Clone(ff), 0, 19, 9),
		"no NOTIFICATION": append(bytes.Clone(ff), 0, 20, 3, 2), "a version": append(bytes.Clone(ff), 0, 29, 1, 3, 0, 1, 0, 9, 1, 1, 1, 1, 0),
		"a parameter": append(bytes.Clone(ff), 0, 31, 1, 4, 0, 1, 0, 9, 1, 1, 1, 1, 2, 2, 200),
	} {
		if m, err := message.Read(bytes.NewReader(text)); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if _, err := message.Read(bytes.NewReader(nil)); !errors.Is(err, io.EOF) {
		t.Errorf("nothing: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(message.Open{ASN: 4200000001, Hold: 9, Router: router}.Encode())
	f.Add(message.Cease().Encode())
	f.Fuzz(func(_ *testing.T, text []byte) {
		for r := bytes.NewReader(text); ; {
			if _, err := message.Read(r); err != nil {
				return
			}
		}
	})
}
