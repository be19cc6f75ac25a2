package addr

import "testing"

func TestNodeEqual(t *testing.T) {
	n := Candidate{Name: "a", InternalIPs: ips("192.0.2.11"), Annotated: ips("192.0.2.11 192.0.2.12")}
	for name, tt := range map[string]struct {
		of   Candidate
		want bool
	}{
		"itself":            {n, true},
		"another name":      {Candidate{Name: "b", InternalIPs: n.InternalIPs, Annotated: n.Annotated}, false},
		"other InternalIPs": {Candidate{Name: "a", InternalIPs: ips("192.0.2.12"), Annotated: n.Annotated}, false},
		"other annotations": {Candidate{Name: "a", InternalIPs: n.InternalIPs}, false},
	} {
		if got := n.Equal(tt.of); got != tt.want {
			t.Errorf("%s: equal %t", name, got)
		}
	}
}
