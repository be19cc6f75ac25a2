// Package ignition puts assets into the envelope that a machine opens at its first boot: an Ignition document.
package ignition

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// SpecVersion is the version of Ignition's specification that documents are written in. Every Ignition since 2.7 reads it.
const SpecVersion = "3.2.0"

// Encode writes the set as a document: one line of JSON. Equal sets give equal bytes. It is an error when Ignition's own validation
// has as much as a remark on it, which means that the set holds what no machine should get, such as an enabled unit that nothing wants.
func Encode(set asset.Set) ([]byte, error) {
	document, err := json.Marshal(config(set))
	if err != nil {
		return nil, fmt.Errorf("encode Ignition document: %w", err)
	}
	document = append(document, '\n')
	if err := check(document); err != nil {
		return nil, err
	}
	return document, nil
}

// check reads the document as the machine will.
func check(document []byte) error {
	_, report, err := v3_2.Parse(document)
	if len(report.Entries) > 0 {
		return fmt.Errorf("validate Ignition document: %s", report.String())
	}
	if err != nil {
		return fmt.Errorf("validate Ignition document: %w", err)
	}
	return nil
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

// file carries its contents in base64 and not compressed: all files together are a few kilobytes, and the output of a compressor differs
// between releases of Go.
func file(f asset.File) types.File {
	overwrite, mode := true, int(f.Mode.Perm())
	source := "data:;base64," + base64.StdEncoding.EncodeToString(f.Contents)
	return types.File{
		Node:          types.Node{Path: f.Path, Overwrite: &overwrite},
		FileEmbedded1: types.FileEmbedded1{Mode: &mode, Contents: types.Resource{Source: &source}},
	}
}

// unit says nothing of what the set does not: a unit without contents of its own keeps the host's.
func unit(u asset.Unit) types.Unit {
	out := types.Unit{Name: u.Name}
	if u.Enabled {
		enabled := true
		out.Enabled = &enabled
	}
	if len(u.Contents) > 0 {
		contents := string(u.Contents)
		out.Contents = &contents
	}
	for _, d := range u.DropIns {
		contents := string(d.Contents)
		out.Dropins = append(out.Dropins, types.Dropin{Name: d.Name, Contents: &contents})
	}
	return out
}
