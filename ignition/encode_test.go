package ignition

import (
	"bytes"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

const service = "[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n"

func set(t *testing.T, files []asset.File, units []asset.Unit) asset.Set {
	t.Helper()
	var s asset.Set
	for _, f := range files {
		if err := s.AddFile(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range units {
		if err := s.AddUnit(u); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestEncode(t *testing.T) {
	files := []asset.File{
		{Path: "/usr/local/bin/b", Mode: 0o755, Contents: []byte("#!/bin/sh\necho '100%' <&2 é\n")},
		{Path: "/etc/a", Mode: 0o600, Contents: []byte{0, 0xff, '\n'}},
		{Path: "/etc/empty", Mode: 0o644},
	}
	units := []asset.Unit{
		{Name: "b.service", Enabled: true, Contents: []byte(service)},
		{Name: "a.socket", Enabled: true},
		{Name: "c.service", DropIns: []asset.DropIn{
			{Name: "10-a.conf", Contents: []byte("[Service]\nUser=1\n")},
		}},
	}
	got, err := Encode(set(t, files, units))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, got)

	again, err := Encode(set(t, []asset.File{files[2], files[1], files[0]}, []asset.Unit{
		units[1], units[2], units[0],
	}))
	if err != nil || !bytes.Equal(got, again) {
		t.Errorf("another order of adding gives other bytes (%v)\n%s", err, again)
	}
	if empty, err := Encode(asset.Set{}); err != nil || string(empty) != `{"ignition":{"config":{"replace":{"verification":{}}},"proxy":{},"security":{"tls":{}},"timeouts":{},"version":"3.2.0"},"passwd":{},"storage":{},"systemd":{}}`+"\n" {
		t.Errorf("the empty set gives %q, %v", empty, err)
	}
}

// TestEncodeRefuses holds that Ignition's own judgement is asked, and that a warning is enough.
func TestEncodeRefuses(t *testing.T) {
	tests := []struct {
		name string
		unit asset.Unit
		want string
	}{
		{"a unit that cannot be read", asset.Unit{Name: "a.service", Contents: []byte(
			"[Service\n",
		)}, "invalid unit content"},
		{
			"an enabled unit that nothing wants: a warning",
			asset.Unit{Name: "a.service", Enabled: true, Contents: []byte(
				"[Service]\nExecStart=/bin/true\n",
			)},
			"no install section",
		},
		{
			"a unit type that systemd lacks", asset.Unit{Name: "a.conf"},
			"invalid systemd unit extension",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			document, err := Encode(set(t, nil, []asset.Unit{tt.unit}))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got the error %v, want one that says %q", err, tt.want)
			}
			if document != nil {
				t.Errorf("got a document beside the error:\n%s", document)
			}
		})
	}
}
