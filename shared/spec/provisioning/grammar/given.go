package grammar

import "github.com/onprem-infra/onprem-infra/shared/spec/document"

// Set is a text at a field that was made in another way than by a document: given unless it is
// empty.
func Set[S ~string](field string, text S) document.Scalar[string] {
	return document.Scalar[string]{Value: string(text), At: document.Field(field),
		Given: text != "", OK: text != ""}
}

// SetNumber is the same of a number.
func SetNumber(field string, n int, given bool) document.Scalar[int] {
	return document.Scalar[int]{Value: n, At: document.Field(field), Given: given, OK: given}
}

// SetValid is an address or a network of a field as text; the zero value is not set.
func SetValid(field string, v interface {
	IsValid() bool
	String() string
}) document.Scalar[string] {
	if !v.IsValid() {
		return Set(field, "")
	}
	return Set(field, v.String())
}
