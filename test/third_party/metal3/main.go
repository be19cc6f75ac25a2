// Command judge reads BareMetalHosts as metal3's API does, one YAML document each in the files that it
// is given: fields that the type does not have are errors, and so is what metal3's own admission
// webhook refuses.
package main

import (
	"fmt"
	"os"

	"github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/yaml"
)

func main() {
	failed := false
	for _, file := range os.Args[1:] {
		if err := judge(file); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", file, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func judge(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var host v1alpha1.BareMetalHost
	if err := yaml.UnmarshalStrict(text, &host); err != nil {
		return err
	}
	_, err = host.ValidateCreate()
	return err
}
