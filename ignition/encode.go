// Package ignition encodes assets as documents: for Ignition, for the Machine Config Operator and
// for Butane.
package ignition

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/coreos/ignition/v2/config/validate"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// SpecVersion is the version of Ignition's specification that documents are written in. Every
// Ignition since 2.7 reads it.
const SpecVersion = "3.2.0"

// Encode writes the set as an Ignition document: one line of JSON. Equal sets give equal bytes. Any
// entry in Ignition's validation report is an error, for example an enabled unit without a
// WantedBy.
func Encode(set asset.Set) ([]byte, error) {
	c := config(set)
	if err := check(c); err != nil {
		return nil, err
	}
	document, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode Ignition document: %w", err)
	}
	return append(document, '\n'), nil
}

// check validates a configuration as the host will, without the contents of its files: they are
// always valid as encoded here, and most of the document.
func check(c types.Config) error {
	c.Storage.Files = slices.Clone(c.Storage.Files)
	for i := range c.Storage.Files {
		c.Storage.Files[i].Contents.Source = new(source(nil))
	}
	if report := validate.ValidateWithContext(c, nil); len(report.Entries) > 0 {
		return fmt.Errorf("validate Ignition document: %s", report.String())
	}
	return nil
}

// source is a URL with contents in base64, not compressed: all files together are a few kilobytes,
// and the output of a compressor differs between releases of Go.
func source(contents []byte) string {
	return "data:;base64," + base64.StdEncoding.EncodeToString(contents)
}

func config(set asset.Set) types.Config {
	c := types.Config{Ignition: types.Ignition{Version: SpecVersion}}
	for _, f := range set.Files() {
		c.Storage.Files = append(c.Storage.Files, file(f))
	}
	for _, u := range set.Units() {
		c.Systemd.Units = append(c.Systemd.Units, unit(u))
	}
	return c
}

func file(f asset.File) types.File {
	contents := types.Resource{Source: new(source(f.Contents))}
	return types.File{
		Node:          types.Node{Path: f.Path, Overwrite: new(true)},
		FileEmbedded1: types.FileEmbedded1{Mode: new(int(f.Mode.Perm())), Contents: contents},
	}
}

// unit sets only the fields of the set: a unit without contents keeps those of the host.
func unit(u asset.Unit) types.Unit {
	out := types.Unit{Name: u.Name}
	if u.Enabled {
		out.Enabled = new(true)
	}
	if len(u.Contents) > 0 {
		out.Contents = new(string(u.Contents))
	}
	for _, d := range u.DropIns {
		out.Dropins = append(out.Dropins,
			types.Dropin{Name: d.Name, Contents: new(string(d.Contents))})
	}
	return out
}
