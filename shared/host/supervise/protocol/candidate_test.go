package protocol

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// one is a configuration with one peer, which keeps other routers out.
func one(peer string) keepalived.Config {
	i := instance("one_API_0", "ens3", "192.0.2.10", "192.0.2.5", peer)
	i.Known, i.Near = true, true
	return keepalived.Config{Header: "one", Instances: []keepalived.Instance{i}}
}

// place writes a file, or removes it.
func place(t *testing.T, path string, content []byte) {
	t.Helper()
	err := os.RemoveAll(path)
	if content != nil {
		err = os.WriteFile(path, content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestProposal holds which of two files counts, over an upgrade of the monitor and a rollback.
func TestProposal(t *testing.T) {
	file, text := supervised.EncodeCandidate(one("192.0.2.11"))
	_, other := supervised.EncodeCandidate(one("192.0.2.12"))
	newer := bytes.Replace(file, []byte(`"version": 1`), []byte(`"version": 3`), 1)
	dir := t.TempDir()
	var p Proposal
	for _, tt := range []struct {
		name       string
		file, text []byte
		peer       string // of the one that counts; none where there is no candidate
		digest     string
		wrong      string
	}{
		{"nothing", nil, nil, "", "", ""},
		{"a monitor of the former release", nil, text, "192.0.2.11", supervised.Digest(text), ""},
		{"a monitor of this release", file, text, "192.0.2.11", supervised.Digest(text), ""},
		{"one that has yet to write the text for the first time", file, nil, "192.0.2.11",
			supervised.Digest(text), ""},
		{"one that has yet to write the text, or a monitor of the former release that came back",
			file, other, "192.0.2.12", supervised.Digest(other), ""},
		{"a monitor of a later release", newer, text, "", supervised.Digest(text), "version is 3"},
		{"one that writes no text", newer, nil, "", supervised.Digest(newer), "version is 3"},
		{"half a file", file[:99], nil, "", supervised.Digest(file[:99]), "unexpected EOF"},
		{"half a file beside a text", file[:99], text, "192.0.2.11", supervised.Digest(text), ""},
		{"half a text", nil, text[:len(text)-4], "", supervised.Digest(text[:len(text)-4]),
			"does not end"},
	} {
		place(t, filepath.Join(dir, supervised.CandidateFile), tt.file)
		place(t, filepath.Join(dir, supervised.CandidateText), tt.text)
		c, err := p.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		wrong := ""
		if c.Invalid != nil {
			wrong = c.Invalid.Error()
		}
		if c.Digest != tt.digest || (wrong == "") != (tt.wrong == "") ||
			!strings.Contains(wrong, tt.wrong) {
			t.Errorf("%s: digest %s, %q; want %s, %q", tt.name, c.Digest, wrong,
				tt.digest, tt.wrong)
		}
		peer := ""
		if len(c.Config.Instances) > 0 {
			peer = c.Config.Instances[0].Peers[0].String()
		}
		if peer != tt.peer || peer != "" && supervised.Digest(c.Text) != c.Digest {
			t.Errorf("%s: peer %q of\n%s\nwant %q", tt.name, peer, c.Text, tt.peer)
		}
	}
}

// TestOpen holds that an adopted configuration accepts routers that it does not name, and that one
// which does so already stays as it is, also where this release would render it otherwise.
func TestOpen(t *testing.T) {
	closed := parse(keepalived.Render(one("192.0.2.11")))
	open := closed.Open()
	if bytes.Contains(open.Text, []byte("check_unicast_src")) || bytes.Contains(open.Text,
		[]byte("min_ttl")) ||
		open.Digest != supervised.Digest(open.Text) {
		t.Errorf("it is still closed:\n%s", open.Text)
	}
	if !closed.Config.Instances[0].Known {
		t.Error("the configuration that it was made of has changed")
	}
	same := parse(append(open.Text, "# by another release\n"...))
	if got := same.Open(); got.Digest != same.Digest || !bytes.Equal(got.Text, same.Text) {
		t.Errorf("it is rendered anew:\n%s", got.Text)
	}
}
