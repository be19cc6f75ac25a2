package haproxy

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Digest names what an haproxy.cfg has HAProxy do, whoever has written it: its structure, and its
// servers. says is the same by the structure that the file has in its description: the two differ
// in a file that was changed since it was rendered.
func Digest(text []byte) (is, says string) {
	blank, description, servers := take(text)
	return join(digest(blank), servers), join(description, servers)
}

// Running is what Digest says of the file that a HAProxy runs on: by its description, as it has
// read it, and by its servers as they are now. ok is false when it does not say where each server
// is.
func Running(description string, stats []Stat) (is string, ok bool) {
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

// take parts a file into its text without who made it, what it says of itself and who its servers
// are, and these.
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

// isServer knows the lines that servers makes. One with anything else in it is a matter of the
// structure.
func isServer(words []string) bool {
	if len(words) != 3 && (len(words) != 4 || words[3] != "disabled") || words[0] != "server" {
		return false
	}
	_, err := netip.ParseAddrPort(words[2])
	return err == nil
}

// digest is what names a text.
func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text))[:12] }

// join is empty where the structure is not known.
func join(structure string, servers []string) string {
	if structure == "" {
		return ""
	}
	slices.Sort(servers)
	return structure + "." + digest([]byte(strings.Join(servers, "\n")))[:6]
}
