package vrrp

// authLen is how much of a password VRRPv2 carries (RFC 2338 5.3.10); keepalived drops the rest.
const authLen = 8

// CompatAuth is the password of today's clusters: NAME_api_vip or NAME_ingress_vip, cut to 8 bytes.
// It is no secret: it follows from the cluster's name, and every advert carries it in clear text. A
// name of 8 or more characters gives both VIPs the same one. The password only separates two
// clusters that share a virtual router ID by mistake. VRRPv3 has no authentication (RFC 5798 9).
func CompatAuth(cluster string, kind Kind) AuthPass {
	pass := cluster + "_" + string(kind) + "_vip"
	return AuthPass(pass[:min(len(pass), authLen)])
}
