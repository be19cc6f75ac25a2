// Package verify validates Ignition documents that other programs have written, in every version
// that Ignition reads.
package verify

import (
	"errors"
	"fmt"
	"strings"

	problem "github.com/coreos/ignition/v2/config/shared/errors"
	newest "github.com/coreos/ignition/v2/config/v3_5"
	"github.com/coreos/vcontext/report"
)

// mostNamed is how many faults of a document an error names.
const mostNamed = 5

// Document is an error for a text that Ignition refuses on the host. A document may have secrets,
// so that the error has places of it and none of its texts.
func Document(text []byte) error {
	_, found, err := newest.ParseCompatibleVersion(text)
	switch {
	case err == nil && !found.IsFatal():
		return nil
	case errors.Is(err, problem.ErrEmpty):
		return errors.New("it is empty: give an Ignition document")
	case errors.Is(err, problem.ErrUnknownVersion):
		return errors.New("its version is not one of 3.0.0 to 3.5.0, which Ignition reads: write " +
			"it in one of them")
	}
	places := faults(found)
	more := ""
	if n := len(places) - mostNamed; n > 0 {
		places, more = places[:mostNamed], fmt.Sprintf(" and %d more", n)
	}
	at := ""
	if len(places) > 0 {
		at = " at " + strings.Join(places, ", ") + more
	}
	return fmt.Errorf("it is refused%s: ignition-validate prints the reason", at)
}

// faults are the places of what Ignition refuses.
func faults(found report.Report) (places []string) {
	for _, e := range found.Entries {
		if !e.Kind.IsFatal() {
			continue
		}
		place := e.Context.String()
		if from := e.Marker.StartP; from != nil {
			place += fmt.Sprintf(" (line %d, column %d)", from.Line, from.Column)
		}
		places = append(places, place)
	}
	return places
}
