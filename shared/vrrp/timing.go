package vrrp

import "time"

// Timing is what the elections of one cluster run on.
type Timing struct {
	Profile string
	Advert  time.Duration
}

// CompatTiming is how OpenShift clusters of today advertise, and what every cluster with such a node in it must use.
func CompatTiming() Timing { return Timing{Profile: "compat", Advert: time.Second} }

// Skew is how much longer than three advertisements a backup of a priority waits, so that the best one speaks first. After a farewell it
// is all that a backup waits. Version 2 counts in 1/256 of a second whatever the interval (RFC 3768 6.1), version 3 in 1/256 of the
// master's interval (RFC 5798 6.1).
func Skew(v Version, p Priority, advert time.Duration) time.Duration {
	unit := time.Second
	if v == V3 {
		unit = advert
	}
	return time.Duration(256-int(p)) * unit / 256
}

// MasterDown is how long a backup of a priority waits after the last advertisement before it takes the VIP: three intervals and its
// skew (RFC 3768 6.1, RFC 5798 6.1).
func MasterDown(v Version, p Priority, advert time.Duration) time.Duration {
	return 3*advert + Skew(v, p, advert)
}
