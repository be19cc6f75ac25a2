package notice

import "encoding/base64"

// ClientsKey is the annotation of a node's own Node with the public key for reports of the clients
// of its VIPs (shared/clients). The node itself writes it, with its kubelet's credentials.
const ClientsKey = "onprem-infra.io/clients-key"

// keyBytes is the length of a public key of X25519 (RFC 7748 6.1).
const keyBytes = 32

// ReadClientsKey returns the annotation's value if it can be a key, and else nothing, as of a node
// without one.
func ReadClientsKey(text string) string {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != keyBytes || base64.StdEncoding.EncodeToString(raw) != text {
		return ""
	}
	return text
}
