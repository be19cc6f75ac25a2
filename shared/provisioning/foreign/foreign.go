// Package foreign is the file of the servers on the provisioning network that are none of the
// cluster's and were seen while its own DHCP server was on.
package foreign

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// Path is the file. It does not exist after a boot.
const Path = layout.Run + "/foreign.json"

// The bounds of the file: servers that are kept, and its bytes. A host that invents servers uses up
// no more.
const (
	limit   = 64
	MaxFile = 1 << 16
)

// Server is one of them.
type Server struct {
	Kind    offer.Kind `json:"kind"`
	MAC     string     `json:"mac"` // of the sender on the link: a relay agent's if one forwards
	Address netip.Addr `json:"address,omitzero"`
	Family  string     `json:"family"` // IPv4 or IPv6
	VLAN    uint16     `json:"vlan,omitempty"`
	First   time.Time  `json:"first"`
	Last    time.Time  `json:"last"`
	// Count is how often it was reported, which is once in a while however much it sends.
	Count int `json:"count"`
}

// Of is a server by what its packets show.
func Of(s offer.Server) Server {
	address := s.Source
	if s.ID.IsValid() {
		address = s.ID
	}
	family := "IPv4"
	if s.Kind == offer.DHCPv6 || s.Kind == offer.Router {
		family = "IPv6"
	}
	return Server{Kind: s.Kind, MAC: s.MAC, Address: address.WithZone(""), Family: family,
		VLAN: s.VLAN, First: s.Last.UTC(), Last: s.Last.UTC(), Count: 1}
}

// String is a server for people.
func (s Server) String() string {
	text := fmt.Sprintf("%s by %s", s.MAC, s.Kind)
	if s.Address.IsValid() {
		text = fmt.Sprintf("%s (%s) by %s", s.Address, s.MAC, s.Kind)
	}
	if s.VLAN != 0 {
		text += fmt.Sprintf(", VLAN %d", s.VLAN)
	}
	return text
}

// List is all of them, in the order in which they were seen first. The zero value is empty.
type List struct {
	Servers []Server `json:"servers"`
	// More is true if there were more than are kept.
	More bool `json:"more,omitempty"`
}

// Add adds a server, and reports whether the list did not have it. A full list forgets the one that
// was not seen for the longest time.
func (l *List) Add(s Server) (first bool) {
	same := func(o Server) bool {
		return o.Kind == s.Kind && o.MAC == s.MAC && o.VLAN == s.VLAN && o.Address == s.Address
	}
	if i := slices.IndexFunc(l.Servers, same); i >= 0 {
		l.Servers[i].Last = s.Last
		l.Servers[i].Count += s.Count
		return false
	}
	if len(l.Servers) >= limit {
		oldest := 0
		for i, o := range l.Servers {
			if o.Last.Before(l.Servers[oldest].Last) {
				oldest = i
			}
		}
		l.Servers, l.More = slices.Delete(l.Servers, oldest, oldest+1), true
	}
	l.Servers = append(l.Servers, s)
	return true
}

// Encode is the file. Equal lists give equal bytes.
func Encode(l List) []byte {
	text, err := json.Marshal(l)
	if err != nil {
		panic("foreign: texts, numbers and times cannot fail to marshal: " + err.Error())
	}
	return append(text, '\n')
}

// Decode reads the file. An empty one is an empty list.
func Decode(file []byte) (l List, err error) {
	if len(file) == 0 {
		return List{}, nil
	}
	if len(file) > MaxFile {
		return List{}, fmt.Errorf("read the list of foreign servers: it has %d bytes, %d at most",
			len(file), MaxFile)
	}
	if err := json.Unmarshal(file, &l); err != nil {
		return List{}, fmt.Errorf("read the list of foreign servers: %w", err)
	}
	if len(l.Servers) > limit {
		return List{}, fmt.Errorf("read the list of foreign servers: it has %d, %d at most",
			len(l.Servers), limit)
	}
	return l, nil
}
