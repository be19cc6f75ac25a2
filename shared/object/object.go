// Package object is the types of the Kubernetes objects that we write, with the fields that we
// write and no others: the API's own types would add seventy packages to a program that only needs
// a manifest's text.
//
// Tests compare these types with the API's (test/manifest). Fields are sorted by name, as they are
// written.
package object

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// Object is any object of the API.
type Object interface{ About() Head }

// Head begins every object.
type Head struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   Meta   `yaml:"metadata"`
}

// About is the head itself, for a type that embeds it.
func (h Head) About() Head { return h }

// Meta identifies an object. Namespace is empty if the object is in none.
type Meta struct {
	Annotations map[string]string `yaml:"annotations,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Name        string            `yaml:"name,omitempty"`
	Namespace   string            `yaml:"namespace,omitempty"`
}

// Encode writes an object, or another value of strings, numbers and lists, as YAML. Equal values
// give equal bytes.
func Encode(o any) []byte {
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(o); err != nil {
		panic("object: strings, numbers and lists cannot fail to be written: " + err.Error())
	}
	return text.Bytes()
}
