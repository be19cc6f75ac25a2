package openshift

import (
	"bytes"
	"fmt"

	"github.com/coreos/go-systemd/v22/unit"
)

// Read parses any unit or drop-in.
func Read(name string, text []byte) (Unit, error) {
	options, err := unit.DeserializeOptions(bytes.NewReader(text))
	if err != nil {
		return Unit{}, fmt.Errorf("read unit %s: %w", name, err)
	}
	u := Unit{Name: name}
	lists := map[string]*string{
		"After": &u.After, "Before": &u.Before, "Wants": &u.Wants, "Requires": &u.Requires,
		"PartOf":   &u.PartOf,
		"WantedBy": &u.WantedBy, "RequiredBy": &u.RequiredBy,
	}
	for _, o := range options {
		if list, ok := lists[o.Name]; ok {
			*list += " " + o.Value
		}
	}
	return u, nil
}
