package orders

import (
	"errors"
	"fmt"
	"time"
)

// Reversal is what a person asks of the handover to the cluster: to take provisioning back, or to
// hand it over again.
type Reversal struct {
	Back bool `json:"back"`
	// Of identifies the handover, by HandoverSince of the journal: after the next change of the
	// handover the request is void.
	Of  time.Time `json:"of"`
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}

// ReversalLasts is how long a Reversal is valid: a request that was not carried out by then must
// not take effect later by surprise.
const ReversalLasts = 5 * time.Minute

// Asks reports whether the request is valid now, for a handover that last changed at a time.
func (r Reversal) Asks(handover, now time.Time) bool {
	return !r.Of.IsZero() && r.Of.Equal(handover) && now.Sub(r.At) < ReversalLasts
}

// EncodeReversal is a file of what a person asks for. Equal values give equal bytes.
func EncodeReversal(r Reversal) []byte { return encode(r) }

// DecodeReversal reads such a file, all of it or nothing.
func DecodeReversal(file []byte) (r Reversal, err error) {
	if err = decode(file, &r); err == nil && r.Of.IsZero() {
		err = errors.New("it names no handover")
	}
	if err != nil {
		return Reversal{}, fmt.Errorf("read what a person asks of the handover: %w", err)
	}
	return r, nil
}
