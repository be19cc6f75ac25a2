// Package example holds commented inputs that the verbs accept.
package example

import (
	"bytes"
	"embed"
	"fmt"
	"text/template"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

//go:embed templates
var files embed.FS

// Images is a file for --images.
func Images() ([]byte, error) { return files.ReadFile("templates/images.json") }

// InstallConfig is an install-config.yaml of OpenShift.
func InstallConfig(p spec.Platform, families string) ([]byte, error) {
	return render("install-config.yaml.tmpl", newNetworks(p, families))
}

// Cluster is a cluster.yaml for any Kubernetes.
func Cluster(p spec.Platform, families string) ([]byte, error) {
	return render("cluster.yaml.tmpl", newNetworks(p, families))
}

// render fills an example with the section of its platform.
func render(name string, e networks) ([]byte, error) {
	templates, err := template.ParseFS(files, "templates/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the examples: %w", err)
	}
	var section, text bytes.Buffer
	if t := templates.Lookup(string(e.Platform) + ".yaml.tmpl"); t != nil {
		if err := t.Execute(&section, e); err != nil {
			return nil, err
		}
	}
	e.Section = section.String()
	if err := templates.ExecuteTemplate(&text, name, e); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
