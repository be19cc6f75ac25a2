package vrrp

import (
	"errors"
	"slices"
)

// Fletcher8 is the checksum that virtual router IDs are made of: two sums modulo 15 over the bytes,
// the sum of sums in the high nibble. Additions wrap at 8 bits, which shows for bytes above 241
// only. Nibble 15 cannot occur, so the largest value is 0xEE.
func Fletcher8(s string) uint8 {
	var a, b uint8
	for i := range len(s) {
		a = (a + s[i]) % 15
		b = (b + a) % 15
	}
	return b<<4 | a
}

// IDs are the virtual router IDs of a cluster's API and ingress VIPs, the same for both families.
// They follow from the name alone, and equal those of an OpenShift cluster of that name, so that
// nodes of either kind share a VIP. Each is from 1 to 240, and the two differ. There are only 225
// of them: two clusters on one network may clash. An empty name is an error.
func IDs(cluster string) (api, ingress ID, err error) {
	if cluster == "" {
		return 0, 0, errors.New("a cluster without a name has no virtual router IDs: give it a " +
			"name")
	}
	api, ingress = pair(cluster, Fletcher8)
	return api, ingress, nil
}

// idBeside is the ID of one more kind of VIP: a function of the name, raised above the cluster's
// other IDs.
func idBeside(cluster string, kind Kind, others []ID) ID {
	id := ID(Fletcher8(cluster+"-"+string(kind))) + 1
	for slices.Contains(others, id) {
		id++
		id = max(id, 1) // 255 is followed by 0, which is no ID
	}
	return id
}

// pair makes the two IDs with a checksum. The one is added because 0 is a possible checksum and no
// legal ID. Equal IDs are separated by raising ingress; Fletcher8 never needs that for ASCII
// names, as the suffixes differ in their sum modulo 15.
func pair(cluster string, sum func(string) uint8) (api, ingress ID) {
	api = ID(sum(cluster+"-"+string(API))) + 1
	ingress = ID(sum(cluster+"-"+string(Ingress))) + 1
	if ingress == api {
		ingress++
	}
	return api, ingress
}
