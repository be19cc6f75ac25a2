package installer

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"regexp"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// capabilitySets matches the names of the sets that releases have: each release adds its own.
var capabilitySets = regexp.MustCompile(`^(None|vCurrent|v4\.[0-9]+)$`)

// texts checks texts that have a form.
func (r checker) texts(root document.Map) {
	key := r.Field(root, "sshKey")
	if text, ok := key.Word(); ok && text != "" && !isPublicKey(text) {
		r.refused(key, "what is no public key of SSH: write a line as in ~/.ssh/id_ed25519.pub")
	}
	bundle := r.Field(root, "additionalTrustBundle")
	if text, ok := bundle.Word(); ok && text != "" && !areCertificates(text) {
		r.refused(bundle, "what is no list of certificates in PEM: write each with its lines "+
			"BEGIN CERTIFICATE and END CERTIFICATE")
	}
	set := r.Field(r.Map(r.Field(root, "capabilities")), "baselineCapabilitySet")
	if word, ok := set.Word(); ok && word != "" && !capabilitySets.MatchString(word) {
		r.refused(set, "%s here: write None, vCurrent or a release such as v4.18",
			document.Quote(word))
	}
}

// proxy checks how the cluster reaches the internet. A URL may hold a password.
func (r checker) proxy(root document.Map) {
	proxy := r.Map(r.Field(root, "proxy"))
	if proxy.Given && !proxy.Lost && !proxy.Has("httpProxy") && !proxy.Has("httpsProxy") {
		r.refused(r.Field(root, "proxy"),
			"a proxy without httpProxy and httpsProxy: write one of them, or remove the proxy")
	}
	for _, f := range []struct {
		name    string
		schemes []string
	}{{"httpProxy", []string{"http"}}, {"httpsProxy", []string{"http", "https"}}} {
		v := r.Field(proxy, f.name)
		text, ok := v.Word()
		if !ok || text == "" {
			continue
		}
		scheme, rest, found := strings.Cut(text, "://")
		if !found || !slices.Contains(f.schemes, strings.ToLower(scheme)) ||
			strings.ContainsAny(rest, " \t\n") {
			r.refused(v, "what is no URL with the scheme %s: write one such as "+
				"http://proxy.example.com:3128", strings.Join(f.schemes, " or "))
		}
	}
}

// isPublicKey reports whether a text has a line as SSH writes public keys: a kind, which the key
// itself repeats, and the key in base64.
func isPublicKey(text string) bool {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for i := 1; i < len(words) && !strings.HasPrefix(words[0], "#"); i++ {
			kind := words[i-1]
			key, err := base64.StdEncoding.DecodeString(words[i])
			start := append(binary.BigEndian.AppendUint32(nil, uint32(len(kind))), kind...)
			if err == nil && bytes.HasPrefix(key, start) {
				return true
			}
		}
	}
	return false
}

// areCertificates reports whether a text is certificates in PEM, and nothing behind them.
func areCertificates(text string) bool {
	rest := []byte(strings.TrimSpace(text))
	for len(rest) > 0 {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return false
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return false
		}
	}
	return true
}
