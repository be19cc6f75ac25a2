package lldp

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
)

func field(kind int, content string) string {
	return string(binary.BigEndian.AppendUint16(nil, uint16(kind<<9|len(content)))) + content
}

const mac = "\x02\x00\x00\x00\x00\x07"

// head is what each announcement begins with.
func head() string {
	return field(1, "\x04"+mac) + field(2, "\x05Gi1/0/3") + field(3, "\x00\x78")
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, frame string
		want        Neighbor
		text        string // of it; of the error if there is no port
	}{
		{"a switch", head() + field(4, "uplink of m0") + field(5, "leaf-1\x00") + field(127, "\x00\x80\xc2\x01\x00\x64") +
			field(127, "\x00\x80\xc2\x03\x00\xc8\x04prov") + field(127, "\x00\x12\x0f\x01") + field(0, ""),
			Neighbor{Chassis: "02:00:00:00:00:07", System: "leaf-1", Port: "Gi1/0/3", Description: "uplink of m0", Announced: true, Untagged: 100, VLANs: []uint16{200}},
			`switch "leaf-1", port "Gi1/0/3" ("uplink of m0"), VLAN 100 without a tag`},
		{"without names", head() + field(0, ""), Neighbor{Chassis: "02:00:00:00:00:07", Port: "Gi1/0/3"},
			`switch "02:00:00:00:00:07", port "Gi1/0/3", which does not announce its VLAN`},
		{"no VLAN without a tag", head() + field(127, "\x00\x80\xc2\x01\x00\x00") + field(0, ""),
			Neighbor{Chassis: "02:00:00:00:00:07", Port: "Gi1/0/3", Announced: true}, `switch "02:00:00:00:00:07", port "Gi1/0/3", no VLAN without a tag`},
		{"addresses", field(1, "\x05\x01\xc0\x00\x02\x01") + field(2, "\x03"+mac) + field(3, "\x00\x78") + field(0, ""),
			Neighbor{Chassis: "192.0.2.1", Port: "02:00:00:00:00:07"}, `switch "192.0.2.1", port "02:00:00:00:00:07", which does not announce its VLAN`},
		{"an address without its bytes", field(1, "\x05\x01") + field(2, "\x03"+mac) + field(3, "\x00\x78") + field(0, ""),
			Neighbor{Chassis: "\x01", Port: "02:00:00:00:00:07"}, `switch "\x01"`},
		{"hostile", field(1, "\x07\xff\x1b[2J") + field(2, "\x07p\n") + field(3, "\x00\x78") + field(0, ""),
			Neighbor{Chassis: "?\x1b[2J", Port: "p\n"}, `switch "?\x1b[2J", port "p\n"`},
		{"its end", field(1, "\x04"+mac) + field(2, "\x05p") + field(3, "\x00\x00") + field(0, ""), Neighbor{}, "announces that it ends"},
		{"cut off", head(), Neighbor{}, "is cut off"},
		{"a field cut off", head() + "\x0a\xff", Neighbor{}, "type 5 is cut off"},
		{"another order", field(2, "\x05p") + field(1, "\x04"+mac), Neighbor{}, "field 1 has the type 2"},
		{"an empty identity", field(1, "\x04"), Neighbor{}, "has 1 bytes"},
		{"nothing", "", Neighbor{}, "is cut off"},
	} {
		n, err := Parse([]byte(tt.frame))
		got := n.String()
		if err != nil {
			got = err.Error()
		}
		if !reflect.DeepEqual(n, tt.want) || !strings.Contains(got, tt.text) {
			t.Errorf("%s: %+v %q, want %+v %q", tt.name, n, got, tt.want, tt.text)
		}
	}
}

// FuzzParse holds that any frame is a port with bounded texts, or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head() + field(4, "uplink") + field(5, "leaf-1") + field(127, "\x00\x80\xc2\x01\x00\x64") + field(0, "")))
	f.Add([]byte(head() + strings.Repeat(field(127, "\x00\x80\xc2\x03\x00\xc8\x00"), 300) + field(0, "")))
	f.Add([]byte(field(1, "\x05\x01")))
	f.Fuzz(func(t *testing.T, frame []byte) {
		n, err := Parse(frame)
		if err != nil && !reflect.DeepEqual(n, Neighbor{}) {
			t.Errorf("%v, and %+v", err, n)
		}
		if len(n.VLANs) > maxVLANs || max(len(n.System), len(n.Port), len(n.Chassis), len(n.Description)) > 3*512 {
			t.Errorf("%+v", n)
		}
		if strings.ContainsAny(n.String(), "\n\x1b") {
			t.Errorf("%q moves a cursor", n)
		}
	})
}
