package orders

import (
	"errors"
	"fmt"
	"time"
)

// Acceptance is what a person accepts of what the preflight found, to go on all the same.
type Acceptance struct {
	Check string `json:"check"` // see progress.Check
	// Of identifies the preflight, by when its phase began: another one finds a network that may be
	// another.
	Of  time.Time `json:"of"`
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}

// EncodeAcceptances is a file of what a person accepts. Equal values give equal bytes.
func EncodeAcceptances(all []Acceptance) []byte { return encode(all) }

// DecodeAcceptances reads such a file, all of it or nothing.
func DecodeAcceptances(file []byte) (all []Acceptance, err error) {
	err = decode(file, &all)
	for _, a := range all {
		if err == nil && (a.Check == "" || a.Of.IsZero()) {
			err = errors.New("it names no check, or no preflight")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read what a person accepts of the preflight: %w", err)
	}
	return all, nil
}
