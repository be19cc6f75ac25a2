// Command onprem-sbom lists what Go programs are built from, as CycloneDX 1.5 JSON on standard
// output: their modules with versions and checksums, as the toolchain wrote them into the programs.
// Equal programs give equal bytes.
//
// cyclonedx-gomod reads one program a run, so a bill of all programs would need a second tool that
// merges bills. As "go run TOOL@VERSION" it would also need the network for each build.
package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "onprem-sbom: %v\n", err)
		os.Exit(1)
	}
}

func run(programs []string) error {
	b, err := list(programs)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err
}

// bill is a CycloneDX document with the fields that we set: it has no serial number and no time,
// which would differ between equal builds.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

// component is our module, a program of it, or a module that programs are built from.
type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref,omitempty"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// list reads the programs. The module of the last one names the bill.
func list(programs []string) (bill, error) {
	b := bill{Format: "CycloneDX", Spec: "1.5", Version: 1}
	if len(programs) == 0 {
		return b, fmt.Errorf("no programs: name at least one")
	}
	used := map[string]component{}
	for _, name := range programs {
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return b, fmt.Errorf("read what %s is built from: %w", name, err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return b, err
		}
		b.Metadata.Component = ours(info)
		sum := sha256.Sum256(text)
		b.Components = append(b.Components, component{
			Type: "application", Ref: filepath.Base(name), Name: filepath.Base(name),
			Version: info.Main.Version,
			Hashes:  []hash{{Algorithm: "SHA-256", Content: hex.EncodeToString(sum[:])}},
		})
		toolchain := module("stdlib", "v"+strings.TrimPrefix(info.GoVersion, "go"), "")
		used[toolchain.Ref] = toolchain
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			if m.Version == "" {
				continue // a directory of this tree
			}
			c := module(m.Path, m.Version, m.Sum)
			used[c.Ref] = c
		}
	}
	var modules []component
	for _, c := range used {
		modules = append(modules, c)
	}
	slices.SortFunc(modules, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	b.Components = append(b.Components, modules...)
	return b, nil
}

// ours is the module of the programs.
func ours(info *debug.BuildInfo) component {
	c := module(info.Main.Path, info.Main.Version, "")
	c.Type = "application"
	c.Licenses = make([]license, 1)
	c.Licenses[0].License.ID = "Apache-2.0"
	return c
}

// module is a module by its package URL, in which a version is percent-encoded (purl-spec): the
// plus sign of v2.0.0+incompatible would be read as a blank.
func module(path, version, sum string) component {
	name := "pkg:golang/" + path + "@" + url.QueryEscape(version)
	c := component{Type: "library", Ref: name, Name: path, Version: version, PURL: name}
	if sum != "" {
		c.Properties = []property{{Name: "go:sum", Value: sum}}
	}
	return c
}
