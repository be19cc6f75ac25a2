package orders

import (
	"errors"
	"fmt"
	"time"
)

// Rewrite is what a person allows the phase machine: to write the disk of one host anew.
type Rewrite struct {
	Host string `json:"host"`
	// Barred identifies the write of the disk that is given up, by its time in the journal. After
	// any other write the permission is void.
	Barred time.Time `json:"barred"`
	At     time.Time `json:"at"`
	Why    string    `json:"why"`
}

// EncodeRewrite is a file of what a person allows. Equal values give equal bytes.
func EncodeRewrite(r Rewrite) []byte { return encode(r) }

// DecodeRewrite reads such a file, all of it or nothing.
func DecodeRewrite(file []byte) (r Rewrite, err error) {
	if err = decode(file, &r); err == nil && (r.Host == "" || r.Barred.IsZero()) {
		err = errors.New("it names no host, or no write of its disk")
	}
	if err != nil {
		return Rewrite{}, fmt.Errorf("read what a person allows the phase machine: %w", err)
	}
	return r, nil
}
