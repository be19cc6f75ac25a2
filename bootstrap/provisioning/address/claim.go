package address

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// Claim is an address that this program has added. It is written before the address is added: if
// the program is killed in between, the next run only removes what is not there.
type Claim struct {
	Index  int          `json:"index"` // of the link, which a new name does not change
	Prefix netip.Prefix `json:"prefix"`
}

// on is the link that has the claimed address; the zero value if none has.
func (c Claim) on(s addr.Snapshot) addr.Link {
	for _, l := range s.Links {
		if l.Index == c.Index && has(l, c.Prefix) {
			return l
		}
	}
	return addr.Link{}
}

// has reports whether a link has an address with exactly that prefix length.
func has(l addr.Link, p netip.Prefix) bool {
	for _, a := range l.Addresses {
		if a.Prefix == p {
			return true
		}
	}
	return false
}

// EncodeClaim is the file of a claim.
func EncodeClaim(c Claim) []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic("address: a number and a prefix cannot fail to marshal: " + err.Error())
	}
	return append(text, '\n')
}

// DecodeClaim reads such a file; none is the zero value.
func DecodeClaim(text []byte) (c Claim, err error) {
	if len(text) == 0 {
		return Claim{}, nil
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return Claim{}, fmt.Errorf("read which address was added: %w", err)
	}
	if c.Index <= 0 || !c.Prefix.IsValid() {
		return Claim{}, fmt.Errorf("read which address was added: link %d has no address %s",
			c.Index, c.Prefix)
	}
	return c, nil
}
