package notice

import "strconv"

// Rank is the annotation of a control plane node's own Node object that claims a rank in the
// election of the API VIP: a number from 0, the best one. The node itself writes it, with its
// kubelet's credentials.
const Rank = "onprem-infra.io/vrrp-rank"

// RackLabel is the label of a Node by whose value the node knows its rack, where an administrator
// has named racks.
const RackLabel = "onprem-infra.io/rack"

// ApartLabel is the label of a Node by which an administrator keeps VIPs away from it. No kubelet
// can set or remove a label of this kind.
const ApartLabel = "onprem-infra.node-restriction.kubernetes.io/no-vip"

// EncodeRank makes the annotation's value.
func EncodeRank(rank int) string { return strconv.Itoa(rank) }

// ReadRank reads what EncodeRank made. ok is false for every other text, and for a rank that is
// not below ranks, the number of them.
func ReadRank(text string, ranks int) (rank int, ok bool) {
	rank, err := strconv.Atoi(text)
	if err != nil || rank < 0 || rank >= ranks || EncodeRank(rank) != text {
		return 0, false
	}
	return rank, true
}
