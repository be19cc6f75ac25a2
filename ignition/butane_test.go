package ignition_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/vincent-petithory/dataurl"
	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// butane is of Butane's specification fcos 1.3.0 what a config of ours may say; a reader that knows
// no other field is stricter than Butane.
type butane struct {
	Variant, Version string
	Storage          struct {
		Files []struct {
			Path      string
			Overwrite *bool
			Mode      *int
			Contents  struct{ Inline, Source *string }
		}
	}
	Systemd struct {
		Units []struct {
			Name     string
			Enabled  *bool
			Contents *string
			Dropins  []struct {
				Name     string
				Contents *string
			}
		}
	}
}

// transpile is a stand-in for Butane, written from its specification: it reads strictly and makes
// the configuration of Ignition 3.2.0.
func transpile(text []byte) (types.Config, error) {
	var b butane
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&b); err != nil {
		return types.Config{}, err
	}
	if b.Variant != "fcos" || b.Version != "1.3.0" {
		return types.Config{}, fmt.Errorf(
			"the variant %s %s is no stable one that makes Ignition 3.2.0", b.Variant, b.Version,
		)
	}
	c := types.Config{Ignition: types.Ignition{Version: "3.2.0"}}
	for _, f := range b.Storage.Files {
		source := f.Contents.Source
		if (source == nil) == (f.Contents.Inline == nil) {
			return types.Config{}, fmt.Errorf("%s: want either inline or source", f.Path)
		}
		if source == nil {
			source = new("data:;base64," + base64.StdEncoding.EncodeToString([]byte(*f.Contents.Inline)))
		}
		c.Storage.Files = append(c.Storage.Files, types.File{
			Node: types.Node{Path: f.Path, Overwrite: f.Overwrite}, FileEmbedded1: types.FileEmbedded1{Mode: f.Mode, Contents: types.Resource{Source: source}},
		})
	}
	for _, u := range b.Systemd.Units {
		unit := types.Unit{Name: u.Name, Enabled: u.Enabled, Contents: u.Contents}
		for _, d := range u.Dropins {
			unit.Dropins = append(unit.Dropins, types.Dropin{Name: d.Name, Contents: d.Contents})
		}
		c.Systemd.Units = append(c.Systemd.Units, unit)
	}
	return c, nil
}

// plain is a configuration in which contents are told apart by what they are, not by how they are
// encoded.
func plain(t testing.TB, c types.Config) (types.Config, map[string]string) {
	t.Helper()
	contents := map[string]string{}
	c.Storage.Files = append([]types.File(nil), c.Storage.Files...)
	for i, f := range c.Storage.Files {
		data, err := dataurl.DecodeString(*f.Contents.Source)
		if err != nil {
			t.Fatal(err)
		}
		contents[f.Path], c.Storage.Files[i].Contents.Source = string(data.Data), nil
	}
	return c, contents
}

// alike says in what a Butane config differs from the set's document.
func alike(t testing.TB, text []byte, set asset.Set) error {
	t.Helper()
	got, err := transpile(text)
	if err != nil {
		return err
	}
	got, contents := plain(t, got)
	want, wanted := plain(t, parsed(t, set))
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("transpiled it is\n%+v\nwant\n%+v", got, want)
	}
	if !maps.Equal(contents, wanted) {
		return fmt.Errorf("the contents are\n%q\nwant\n%q", contents, wanted)
	}
	return nil
}

func TestButane(t *testing.T) {
	text, err := ignition.Butane(goods(t))
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, text)
	if err := alike(t, text, goods(t)); err != nil {
		t.Error(err)
	}
	for name, edit := range map[string][2]string{
		"a field of nobody":  {"overwrite: ", "overwritten: "},
		"another mode":       {"mode: 0600", "mode: 600"},
		"other contents":     {"echo '100%'", "echo '10%'"},
		"a unit that is off": {"enabled: true", "enabled: false"},
		"another version":    {"1.3.0", "1.4.0"},
	} {
		bad := strings.Replace(string(text), edit[0], edit[1], 1)
		if bad == string(text) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if alike(t, []byte(bad), goods(t)) == nil {
			t.Errorf("%s: the judge does not see it", name)
		}
	}
	var bad asset.Set
	if err := bad.AddUnit(asset.Unit{
		Name: "a.service", Contents: []byte("[Service\n"),
	}); err != nil {
		t.Fatal(err)
	}
	if text, err := ignition.Butane(bad); text != nil || err == nil {
		t.Errorf("a unit that cannot be read: %v\n%s", err, text)
	}
}

// FuzzForms holds that no contents change on their way through any form, and that Find finds them
// there.
func FuzzForms(f *testing.F) {
	for _, s := range []string{
		"", "a", "\n", " a\n", "\ta\n", "a\r\nb", "# a", "a: b\n", "\x00", "\xff", "\u2028",
		"\ufeff", "|", "- a", "%", "{{.X}}", "a\n\n\n", "null", "0644", "é", "\x7f", "\u0085",
		"  \n a", "\x00\x01\x00\x000",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var set asset.Set
		if err := set.AddFile(asset.File{
			Path: "/etc/a", Mode: 0o640, Contents: []byte(s),
		}); err != nil {
			t.Fatal(err)
		}
		if drop := (asset.Unit{Name: "a.service", DropIns: []asset.DropIn{
			{Name: "a.conf", Contents: []byte("[Service]\n# " + strings.Map(printing, s) + "\n")},
		}}); utf8.ValidString(s) {
			if err := set.AddUnit(drop); err != nil {
				t.Fatal(err)
			}
		}
		document, err := ignition.Encode(set)
		if err != nil {
			return // Ignition's own reader of units has words for it
		}
		config, err := ignition.Butane(set)
		if err == nil {
			err = alike(t, config, set)
		}
		if err != nil {
			t.Errorf("%q: %v\n%s", s, err, config)
		}
		object, err := ignition.MachineConfig(set, role.Master)
		if wrong, got := judge(object, role.Master); err != nil || len(wrong) > 0 ||
			!reflect.DeepEqual(got, parsed(t, set)) {
			t.Errorf("%q: %v %q\n%s", s, err, wrong, object)
		}
		for _, form := range [][]byte{document, config, object} {
			if got, found, err := ignition.Find(form, "/etc/a"); string(got) != s || !found ||
				err != nil {
				t.Errorf("%q is found as %q, %t, %v in\n%s", s, got, found, err, form)
			}
		}
	})
}

// printing are the characters of a comment in a unit.
func printing(r rune) rune {
	if r < ' ' && r != '\t' || r == '\\' {
		return '?'
	}
	return r
}
