package wire

import (
	"net/netip"
	"time"
)

// The most unicast replies a second, to one address and to all. So queries with a forged source
// address cannot make this host flood another one.
const (
	MaxToOne = 10
	MaxToAll = 200
)

// Quota counts the unicast replies of the current second. The zero value is ready for use.
type Quota struct {
	since time.Time
	all   int
	each  map[netip.Addr]int
}

// Take reports whether another reply may be sent to an address, and counts it.
func (q *Quota) Take(now time.Time, to netip.Addr) bool {
	if now.Sub(q.since) >= time.Second || q.each == nil {
		q.since, q.all, q.each = now, 0, map[netip.Addr]int{}
	}
	if q.all >= MaxToAll || q.each[to] >= MaxToOne {
		return false
	}
	q.all++
	q.each[to]++
	return true
}
