// Package notice defines what machines of a cluster publish for each other, in ConfigMaps of our
// namespace and in annotations of their own Nodes: names, contents, and which of them are valid.
package notice

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// The names of the objects. Only nodes of the former release read Candidates: see Published. The
// bootstrap machine writes Bootstrap, and control plane nodes read it.
const (
	Candidates = "onprem-infra-ingress-candidates"
	Bootstrap  = "onprem-infra-bootstrap"
)

// MostCandidates bounds the list: each candidate sends its adverts to each other one.
const MostCandidates = 64

// The keys of the objects' data.
const (
	candidatesKey = "candidates"
	addressesKey  = "addresses"
)

// Beat is the key of the bootstrap machine's heartbeat: a machine that runs changes its value.
const Beat = "beat"

// Bounds on what is read, far above what is written.
const (
	longest       = 256 << 10 // of a value, bytes
	mostAddresses = 8         // of one machine
)

// Candidate is a node that may hold the ingress VIP.
type Candidate struct {
	Name string `json:"name"`
	// from which it may advertise; of each family the first is the usual one
	Addresses []netip.Addr `json:"addresses"`
	// its annotation ClientsKey; empty for none
	Key string `json:"key,omitempty"`
}

// Equal compares all of two candidates.
func (c Candidate) Equal(o Candidate) bool {
	return c.Name == o.Name && slices.Equal(c.Addresses, o.Addresses) && c.Key == o.Key
}

// Members are the addresses of vip's family from which a candidate may advertise. If own, the local
// host's address, is among them, it is the only one, so that a host always finds itself.
func (c Candidate) Members(vip, own netip.Addr) []netip.Addr {
	if own.IsValid() && own.BitLen() == vip.BitLen() && slices.Contains(c.Addresses, own) {
		return []netip.Addr{own}
	}
	other := func(a netip.Addr) bool { return a.BitLen() != vip.BitLen() }
	return slices.DeleteFunc(slices.Clone(c.Addresses), other)
}

// Cluster is what makes an address valid.
type Cluster struct {
	Machines []netip.Prefix // the machine networks; none: any address may be a machine's
	VIPs     []netip.Addr   // which no machine has for its own
}

// Has reports why no machine of this cluster can have an address; nil if one can.
func (c Cluster) Has(a netip.Addr) error {
	has := func(p netip.Prefix) bool { return p.Contains(a) }
	switch {
	case !a.IsValid():
		return errors.New("no address")
	case a.Is4In6(), a.Zone() != "", !a.IsGlobalUnicast():
		return fmt.Errorf("%v is no machine's address", a)
	case slices.Contains(c.VIPs, a):
		return fmt.Errorf("%v is a VIP", a)
	case len(c.Machines) > 0 && !slices.ContainsFunc(c.Machines, has):
		return fmt.Errorf("%v is in no machine network %v", a, c.Machines)
	}
	return nil
}

// EncodeCandidates makes the data of the object. Equal lists give equal data. The keys of
// candidates are left out, as the former release reads none.
func EncodeCandidates(list []Candidate) map[string]string {
	without := make([]Candidate, len(list))
	for i, c := range list {
		without[i] = Candidate{Name: c.Name, Addresses: c.Addresses}
	}
	text, err := json.Marshal(without)
	if err != nil { // strings and addresses alone: all of them can be written
		return nil
	}
	return map[string]string{candidatesKey: string(text)}
}

// ReadCandidates accepts all of the data or nothing of it.
func ReadCandidates(data map[string]string, cluster Cluster) ([]Candidate, error) {
	var list []Candidate
	if err := read(data, candidatesKey, &list); err != nil {
		return nil, err
	}
	if err := validateList(list, cluster); err != nil {
		return nil, fmt.Errorf("%s: %w", candidatesKey, err)
	}
	return list, nil
}

// validateList holds that a list is one of nodes, each of them once, and of addresses that can be
// theirs.
func validateList(list []Candidate, cluster Cluster) error {
	if list == nil || len(list) > MostCandidates {
		return fmt.Errorf("%d entries, want a list of %d at most", len(list), MostCandidates)
	}
	names, seen := map[string]bool{}, map[netip.Addr]bool{}
	for _, c := range list {
		if !nodeName(c.Name) || names[c.Name] {
			return fmt.Errorf("%q is no node's name, or is there twice", clip(c.Name))
		}
		names[c.Name] = true
		if err := validate(c.Addresses, cluster, seen); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

// EncodeBootstrap makes the data of the bootstrap machine's object. beat is another number each
// time, as a heartbeat.
func EncodeBootstrap(addresses []netip.Addr, beat uint64) map[string]string {
	text, err := json.Marshal(addresses)
	if err != nil {
		return nil
	}
	return map[string]string{addressesKey: string(text), Beat: strconv.FormatUint(beat, 10)}
}

// ReadBootstrap accepts all of the data or nothing of it.
func ReadBootstrap(
	data map[string]string, cluster Cluster,
) (addresses []netip.Addr, beat uint64, err error) {
	if err := read(data, addressesKey, &addresses); err != nil {
		return nil, 0, err
	}
	if err := validate(addresses, cluster, map[netip.Addr]bool{}); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", addressesKey, err)
	}
	if beat, err = strconv.ParseUint(data[Beat], 10, 64); err != nil {
		return nil, 0, fmt.Errorf("%s: %q is no number", Beat, clip(data[Beat]))
	}
	return addresses, beat, nil
}

func read(data map[string]string, key string, into any) error {
	text, ok := data[key]
	if !ok {
		return fmt.Errorf("it has no %q", key)
	}
	return decode(key, text, into)
}

func decode(key, text string, into any) error {
	if len(text) > longest {
		return fmt.Errorf("%s: %d bytes, want %d at most", key, len(text), longest)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("%s: %q: %w", key, clip(text), err)
	}
	return nil
}

// validate checks that a machine has addresses, each valid and no other machine's.
func validate(addresses []netip.Addr, cluster Cluster, seen map[netip.Addr]bool) error {
	if len(addresses) == 0 || len(addresses) > mostAddresses {
		return fmt.Errorf("%d addresses, want 1 to %d", len(addresses), mostAddresses)
	}
	for _, a := range addresses {
		if err := cluster.Has(a); err != nil {
			return err
		}
		if seen[a] {
			return fmt.Errorf("%v is there twice", a)
		}
		seen[a] = true
	}
	return nil
}

// letters are those of a Node's name and of a way's.
const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// nodeName reports whether a Node can have this name: it is a DNS subdomain name.
func nodeName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.Trim(label, letters) != "" || strings.Trim(label, "-") != label {
			return false
		}
	}
	return true
}

// clip shortens a text that comes from outside, for a message.
func clip(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
