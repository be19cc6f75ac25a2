package vrrp

// authLen is how much of a password VRRPv2 carries (RFC 2338 5.3.10); keepalived drops the rest.
const authLen = 8

// CompatAuth is the password of today's clusters, NAME_api_vip or NAME_ingress_vip cut to what
// travels. It is public by design: anybody can derive it from the cluster's name, it crosses the
// network in clear text in every advertisement, and a name of 8 or more characters gives both VIPs
// the same one. It keeps two clusters that share a virtual router ID by mistake from believing each
// other, nothing more. VRRPv3 carries no password at all (RFC 5798 9).
func CompatAuth(cluster string, kind Kind) AuthPass {
	pass := cluster + "_" + string(kind) + "_vip"
	return AuthPass(pass[:min(len(pass), authLen)])
}
