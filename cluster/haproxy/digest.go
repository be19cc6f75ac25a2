package haproxy

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Digest identifies the structure and the servers of an haproxy.cfg, whatever program wrote it.
// actual is computed from the text. described takes the structure from the file's description, so
// the two differ in a file that was changed after it was rendered.
func Digest(text []byte) (actual, described string) {
	blank, description, servers := take(text)
	return join(digest(blank), servers), join(description, servers)
}

// Running is the Digest of a HAProxy process: of the description that it has read and of its
// present servers. ok is false if a server has no address.
func Running(description string, stats []Stat) (digest string, ok bool) {
	var servers []string
	for _, s := range stats {
		switch {
		case s.Disabled():
		case !s.Address.IsValid():
			return "", false
		default:
			servers = append(servers, s.Backend+"/"+s.Server+" "+s.Address.String())
		}
	}
	return join(description, servers), true
}

// take splits a file into its description, its servers, and the text without these and without its
// header.
func take(text []byte) (blank []byte, description string, servers []string) {
	backend, first := "", true
	for line := range bytes.Lines(text) {
		words := strings.Fields(string(line))
		switch {
		case first && bytes.HasPrefix(line, []byte("# ")):
			line = nil
		case len(words) == 2 && words[0] == "description":
			description, line = words[1], []byte("    description \n")
		case len(words) == 2 && words[0] == "backend":
			backend = words[1]
		case isServer(words):
			if len(words) == 3 {
				servers = append(servers, backend+"/"+words[1]+" "+words[2])
			}
			line = fmt.Appendf(nil, "    server %s %s disabled\n", words[1], Free)
		}
		blank, first = append(blank, line...), false
	}
	return blank, description, servers
}

// isServer recognizes the lines that servers writes. Any other line belongs to the structure.
func isServer(words []string) bool {
	if len(words) != 3 && (len(words) != 4 || words[3] != "disabled") || words[0] != "server" {
		return false
	}
	_, err := netip.ParseAddrPort(words[2])
	return err == nil
}

// digest is the shortened hash of a text.
func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text))[:12] }

// join is empty if the structure is not known.
func join(structure string, servers []string) string {
	if structure == "" {
		return ""
	}
	slices.Sort(servers)
	return structure + "." + digest([]byte(strings.Join(servers, "\n")))[:6]
}
