// Package object holds what we write of Kubernetes' objects: the fields that we set, spelt as the API spells them, and no others. The API's own types
// would bring seventy packages into a program that only wants a manifest's text; tests hold ours against them (test/manifest).
package object

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// Object is any object of the API.
type Object interface{ About() Head }

// Head is what every object begins with.
type Head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   Meta   `json:"metadata"`
}

// About is the head itself, of whatever has it.
func (h Head) About() Head { return h }

// Meta is by what an object is found. Namespace is empty where the object is the whole cluster's.
type Meta struct {
	Name        string            `json:"name,omitempty"`
	Namespace   string            `json:"namespace,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Encode writes an object as YAML, with sorted keys. Equal objects give equal bytes.
func Encode(o Object) []byte {
	text, err := json.Marshal(o)
	if err == nil {
		text, err = yaml.JSONToYAML(escaped(text))
	}
	if err != nil {
		panic("object: strings, numbers and lists cannot fail to marshal: " + err.Error())
	}
	return text
}

// escaped is JSON that is YAML too: of the characters that YAML has only by their numbers, JSON's writer takes some for plain ones.
func escaped(text []byte) []byte {
	var out []byte
	for _, r := range string(text) {
		if r >= 0x7f && r < 0xa0 || r == 0xfeff || r&0xfffe == 0xfffe && r <= 0xffff {
			out = fmt.Appendf(out, `\u%04x`, r)
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}
