package grammar

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// Account is the user name and the password by which one logs in to a BMC.
type Account struct{ Username, Password secret.Text }

// ParseAccount reads a file of credentials. Name is what findings call it; they repeat nothing of
// it, not even the name of a field, which may be the password.
func ParseAccount(name string, text []byte) (Account, document.Findings) {
	r := document.NewReader(name, "a map of username and password")
	var a Account
	if root, ok := r.Read(text); ok {
		o := r.Map(root)
		for _, field := range []struct {
			name string
			to   *secret.Text
		}{{"username", &a.Username}, {"password", &a.Password}} {
			s := Secret(r, o.Get(field.name))
			switch {
			case o.Given && !s.Given:
				r.Errorf(s.At, "is missing: write %s: and the text", field.name)
			case s.OK && s.Value.Empty():
				r.Errorf(s.At, "is empty: write the text")
			}
			*field.to = s.Value
		}
		for _, n := range o.Names {
			if !slices.Contains([]string{"username", "password"}, n) {
				at := o.Key(n)
				at.Path = document.Whole
				r.Errorf(at, "has a field beside username and password: remove it")
			}
		}
	}
	return a, r.Findings.First()
}
