package plan

// IPv6First reports whether a cluster of these families knows its hosts by IPv6 first. Each family set
// is named here.
func (f Families) IPv6First() bool {
	switch f {
	case IPv6, DualStackIPv6:
		return true
	case IPv4, DualStack:
		return false
	}
	return false
}
