// Package object holds what we write of Kubernetes' objects: the fields that we set, spelt as the
// API spells them, and no others. The API's own types would bring seventy packages into a program
// that only wants a manifest's text; tests hold ours against them (test/manifest). Fields stand in
// the order of their names, in which they are written.
package object

import (
	"bytes"

	"go.yaml.in/yaml/v3"
)

// Object is any object of the API.
type Object interface{ About() Head }

// Head is what every object begins with.
type Head struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   Meta   `yaml:"metadata"`
}

// About is the head itself, of whatever has it.
func (h Head) About() Head { return h }

// Meta is by what an object is found. Namespace is empty where the object is the whole cluster's.
type Meta struct {
	Annotations map[string]string `yaml:"annotations,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Name        string            `yaml:"name,omitempty"`
	Namespace   string            `yaml:"namespace,omitempty"`
}

// Encode writes an object as YAML. Equal objects give equal bytes.
func Encode(o Object) []byte {
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(o); err != nil {
		panic("object: strings, numbers and lists cannot fail to be written: " + err.Error())
	}
	return text.Bytes()
}
