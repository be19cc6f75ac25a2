package identity

import (
	"crypto/tls"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestBundle_Complete holds that an identity is made once, and made again only as far as it is not
// usable: for another name, before its end, or with a hash of another password.
func TestBundle_Complete(t *testing.T) {
	now, names := time.Now(), []string{"localhost", "172.22.0.3", "ironic.example.svc"}
	first, changed, err := Bundle(nil).Complete(names, now)
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	pair, err := tls.X509KeyPair(first[CertificateKey], first[PrivateKey])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := pair.Leaf.VerifyHostname(name); err != nil {
			t.Error(err)
		}
	}
	if a := (account{string(first[UsernameKey]), string(first[PasswordKey])}); !a.is(first[HtpasswdKey]) || len(a.Password) != passwordLength {
		t.Error("the hash is not of the account")
	}
	for name, tt := range map[string]struct {
		change func(Bundle)
		names  []string
		at     time.Time
		differ []string
	}{
		"again":             {nil, names, now, nil},
		"fewer names":       {nil, names[:1], now, nil},
		"another name":      {nil, append(names, "192.0.2.5"), now, []string{CertificateKey, PrivateKey}},
		"a year before":     {nil, names, now.Add(lifetime - renewal + time.Hour), []string{CertificateKey, PrivateKey}},
		"no key":            {func(b Bundle) { delete(b, PrivateKey) }, names, now, []string{CertificateKey, PrivateKey}},
		"another password":  {func(b Bundle) { b[PasswordKey] = []byte("x") }, names, now, []string{PasswordKey, HtpasswdKey}},
		"no account":        {func(b Bundle) { delete(b, UsernameKey) }, names, now, []string{UsernameKey, PasswordKey, HtpasswdKey}},
		"data of no one":    {func(b Bundle) { b["x"] = []byte("y") }, names, now, nil},
		"an empty password": {func(b Bundle) { b[PasswordKey] = nil }, names, now, []string{PasswordKey, HtpasswdKey}},
	} {
		before := maps.Clone(first)
		if tt.change != nil {
			tt.change(before)
		}
		after, changed, err := before.Complete(tt.names, tt.at)
		if err != nil || changed != (tt.differ != nil) {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
		differ := map[string]bool{}
		for key := range after {
			if string(after[key]) != string(before[key]) {
				differ[key] = true
			}
		}
		for _, key := range tt.differ {
			if !differ[key] {
				t.Errorf("%s: %s is as before", name, key)
			}
			delete(differ, key)
		}
		if len(differ) > 0 {
			t.Errorf("%s: other values of %v", name, differ)
		}
	}
}

// TestPlace holds which files of an identity are in a pod, for their owner alone: the password is in
// none of them.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	f := Files{Certificate: filepath.Join(dir, "tls/a"), Key: filepath.Join(dir, "tls/b"), Account: filepath.Join(dir, "auth/c"), Htpasswd: filepath.Join(dir, "auth/d")}
	b, _, err := Bundle(nil).Complete([]string{"localhost"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Place(b); err != nil {
		t.Fatal(err)
	}
	for path, key := range map[string]string{f.Certificate: CertificateKey, f.Key: PrivateKey, f.Htpasswd: HtpasswdKey} {
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(text) != string(b[key]) || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v, %v", path, err, statErr, info.Mode())
		}
	}
	if _, err := os.Stat(f.Account); err == nil {
		t.Error("the account is in a file")
	}
}
