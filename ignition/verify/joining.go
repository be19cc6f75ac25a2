package verify

import (
	"bytes"
	"errors"
	"fmt"
)

// mostJoining limits a document, in bytes: a Secret of the API has 1 MiB at most in all.
const mostJoining = 1000 << 10

// begins are the first characters by which cloud-init recognizes user data (its documentation,
// "User-data formats").
var begins = []string{"#cloud-config", "#!", "#include", "#cloud-boothook", "#part-handler",
	"## template: jinja", "Content-Type:", "MIME-Version:"}

// Joining is an error for a text by which no host joins a cluster: it is neither an Ignition
// document nor user data of cloud-init. A document may have secrets, so that the error has none of
// its texts.
func Joining(text []byte) error {
	text = bytes.TrimSpace(text)
	switch {
	case len(text) == 0:
		return errors.New("it is empty: give the document by which the host joins")
	case len(text) > mostJoining:
		return fmt.Errorf("it is longer than %d bytes: have the document fetch what is long from "+
			"a server", mostJoining)
	case text[0] == '{':
		return Document(text)
	}
	for _, begin := range begins {
		if bytes.HasPrefix(text, []byte(begin)) {
			return nil
		}
	}
	return errors.New("it is neither an Ignition document nor user data of cloud-init, whose " +
		"first line is #cloud-config, or #! of a script")
}
