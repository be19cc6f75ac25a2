package grammar

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// Secret reads a text that no finding may repeat.
func Secret(r *document.Reader, v document.Value) document.Scalar[secret.Text] {
	s := document.Scalar[secret.Text]{At: v.At, Given: v.Given()}
	if v.Node == nil {
		return s
	}
	text, ok := v.Word()
	if !ok || v.Target().Style == 0 &&
		slices.Contains(document.OldBools(), strings.ToLower(text)) {
		r.Errorf(v.At, "want a string, got another value: put it in quotes")
		return s
	}
	s.Value, s.OK = secret.New(text), true
	return s
}

// Bool reads true or false.
func Bool(r *document.Reader, v document.Value) document.Scalar[bool] {
	s := document.Scalar[bool]{At: v.At, Given: v.Given()}
	if v.Node == nil {
		return s
	}
	if v.Target().ShortTag() != "!!bool" || v.Target().Decode(&s.Value) != nil {
		r.Errorf(v.At, "want true or false, got another value: write one of them without quotes")
		return s
	}
	s.OK = true
	return s
}
