package ignition

import (
	"bytes"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// The Butane specification whose configs become documents of SpecVersion.
const (
	butaneVariant = "fcos"
	butaneVersion = "1.3.0"
)

// Butane writes the set as a Butane config, which people can read and edit. Butane makes from it
// the document of Encode, except for the encoding of contents. Equal sets give equal bytes. An
// error of Encode is an error here.
func Butane(set asset.Set) ([]byte, error) {
	if _, err := Encode(set); err != nil {
		return nil, err
	}
	b := butane{Variant: butaneVariant, Version: butaneVersion}
	for _, f := range set.Files() {
		b.Storage.Files = append(b.Storage.Files, butaneFile{
			Path: f.Path, Overwrite: true, Mode: octal(f.Mode.Perm()),
			Contents: resource(f.Contents),
		})
	}
	for _, u := range set.Units() {
		out := butaneUnit{Name: u.Name, Enabled: u.Enabled, Contents: text(u.Contents)}
		for _, d := range u.DropIns {
			out.DropIns = append(out.DropIns, butaneDropIn{d.Name, text(d.Contents)})
		}
		b.Systemd.Units = append(b.Systemd.Units, out)
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("encode Butane config: %w", err)
	}
	return out.Bytes(), nil
}

// butane is a Butane config with the fields that we set.
type butane struct {
	Variant string
	Version string
	Storage struct {
		Files []butaneFile `yaml:",omitempty"`
	} `yaml:",omitempty"`
	Systemd struct {
		Units []butaneUnit `yaml:",omitempty"`
	} `yaml:",omitempty"`
}

type butaneFile struct {
	Path      string
	Overwrite bool
	Mode      octal
	Contents  butaneResource
}

// butaneResource is inline text, or a URL with other contents.
type butaneResource struct {
	Inline *text  `yaml:",omitempty"`
	Source string `yaml:",omitempty"`
}

type butaneUnit struct {
	Name     string
	Enabled  bool           `yaml:",omitempty"`
	Contents text           `yaml:",omitempty"`
	DropIns  []butaneDropIn `yaml:"dropins,omitempty"`
}

type butaneDropIn struct {
	Name     string
	Contents text
}

func resource(contents []byte) butaneResource {
	if !utf8.Valid(contents) {
		return butaneResource{Source: source(contents)}
	}
	return butaneResource{Inline: new(text(contents))}
}

// octal is a mode as people write it.
type octal fs.FileMode

// MarshalYAML is a number with a leading zero.
func (o octal) MarshalYAML() (any, error) {
	value := fmt.Sprintf("%#o", uint32(o))
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: value}, nil
}

// text is written as a block of lines if YAML reads it back unchanged. It does not if the text
// begins with a tab, for instance.
type text string

// MarshalYAML is a block of lines, or a quoted string.
func (t text) MarshalYAML() (any, error) {
	node := &yaml.Node{
		Kind: yaml.ScalarNode, Tag: "!!str", Value: string(t), Style: yaml.LiteralStyle,
	}
	written, err := yaml.Marshal(node)
	var read string
	if t == "" || err != nil || yaml.Unmarshal(written, &read) != nil || read != string(t) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node, nil
}
