// Package units holds the systemd units verbatim; what varies between clusters is set in the parsed unit, never pasted into its text.
package units

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

//go:embed *.service *.path *.conf
var files embed.FS

// Install puts our programs on the host, out of image, before any other unit of ours.
func Install(image string) (asset.Unit, error) {
	u, err := verbatim("onprem-install.service", true)
	if err != nil {
		return asset.Unit{}, err
	}
	u.Contents, err = setEnvironment(u.Contents, "ONPREM_INFRA_IMAGE", image)
	if err != nil {
		return asset.Unit{}, fmt.Errorf("set the image in %s: %w", u.Name, err)
	}
	return u, nil
}

// Keepalived holds the API VIP on the bootstrap machine.
func Keepalived() (asset.Unit, error) { return verbatim("onprem-keepalived.service", true) }

// CoreDNS answers for the cluster's names on the bootstrap machine.
func CoreDNS() (asset.Unit, error) { return verbatim("onprem-coredns.service", true) }

// Resolv keeps this machine first in its own resolv.conf when NetworkManager changes its file without telling its hooks, and when there is no
// NetworkManager.
func Resolv() ([]asset.Unit, error) {
	var list []asset.Unit
	for _, u := range []struct {
		name    string
		enabled bool
	}{{"onprem-resolv.path", true}, {"onprem-resolv-changed.service", false}, {"onprem-resolv.service", true}} {
		one, err := verbatim(u.name, u.enabled)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// Podman is what our daemons need of the host's own container engine: its socket, and the proxy for the images that it pulls for us.
func Podman() ([]asset.Unit, error) {
	text, err := files.ReadFile("podman-proxy.conf")
	if err != nil {
		return nil, err
	}
	return []asset.Unit{
		{Name: "podman.socket", Enabled: true, By: "units"},
		{Name: "podman.service", DropIns: []asset.DropIn{{Name: "10-onprem-proxy.conf", Contents: text}}, By: "units"},
	}, nil
}

func verbatim(name string, enabled bool) (asset.Unit, error) {
	text, err := files.ReadFile(name)
	return asset.Unit{Name: name, Enabled: enabled, Contents: text, By: "units"}, err
}

// setEnvironment gives the variable, which the unit must have, a value.
func setEnvironment(text []byte, name, value string) ([]byte, error) {
	options, err := unit.DeserializeOptions(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	for _, o := range options {
		if o.Section == "Service" && o.Name == "Environment" && strings.HasPrefix(o.Value, name+"=") {
			o.Value = quote(name + "=" + value)
			return io.ReadAll(unit.Serialize(options))
		}
	}
	return nil, fmt.Errorf("the unit has no Environment=%s=", name)
}
