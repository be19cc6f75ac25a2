package container

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Digest is the hex SHA-256 of the specification in canonical JSON: equal for equal containers,
// whatever the order of their environment or whether an empty list is nil. An engine stores it with
// the container, so that a later run knows whether the container is of the same specification.
func (s Spec) Digest() string {
	text, _ := json.Marshal(canonical(s)) // strings and booleans always encode
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// canonical gives empty lists one form; encoding/json sorts the keys of a map.
func canonical(s Spec) Spec {
	s.Command = append([]string{}, s.Command...)
	s.Mounts = append([]Mount{}, s.Mounts...)
	s.Tmpfs = append([]string{}, s.Tmpfs...)
	s.Capabilities = append([]string{}, s.Capabilities...)
	if s.Env == nil {
		s.Env = map[string]string{}
	}
	return s
}
