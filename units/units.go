// Package units holds the systemd units verbatim, and sets values that differ between clusters in
// the parsed unit.
package units

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

//go:embed *.service *.path *.conf onprem-install
var files embed.FS

// The units after which the host's network is up.
const (
	NetworkOnline = "network-online.target"
	// NetworkManagerOnline is for the nodes of OpenShift. Its units configure the network after our
	// units that choose the node's addresses, and before network-online.target. So our units must
	// wait for an earlier one.
	NetworkManagerOnline = "NetworkManager-wait-online.service"
)

// Install copies our programs from image to the host, before any other unit of ours and after
// online. credentials is the file with the registry's credentials on the host; it may not exist.
func Install(image, credentials, online string) (asset.Unit, error) {
	u, err := verbatim("onprem-install.service", true)
	if err == nil && online != NetworkOnline {
		u.Contents, err = rename(u.Contents, []string{"Wants", "After"}, NetworkOnline, online)
	}
	for _, v := range []struct{ name, value string }{
		{"ONPREM_INFRA_IMAGE", image}, {"ONPREM_INFRA_AUTH", credentials},
	} {
		if err == nil {
			u.Contents, err = setEnvironment(u.Contents, v.name, v.value)
		}
	}
	if err != nil {
		return asset.Unit{}, fmt.Errorf("set values in onprem-install.service: %w", err)
	}
	return u, nil
}

// Installer is the script that Install's unit runs.
func Installer() (asset.File, error) {
	text, err := files.ReadFile("onprem-install")
	return asset.File{Path: "/usr/local/bin/onprem-install", Mode: 0o755, Contents: text, By: "units"}, err
}

// Keepalived holds the API VIP on the bootstrap machine.
func Keepalived() (asset.Unit, error) { return verbatim("onprem-keepalived.service", true) }

// CoreDNS answers for the cluster's names on the bootstrap machine.
func CoreDNS() (asset.Unit, error) { return verbatim("onprem-coredns.service", true) }

// Resolv keeps the local host first in its resolv.conf if NetworkManager changes its file without
// running its hooks, and without NetworkManager.
func Resolv() ([]asset.Unit, error) {
	return verbatimAll(
		named{"onprem-resolv.path", true}, named{"onprem-resolv-changed.service", false},
		named{"onprem-resolv.service", true})
}

// Podman is podman's socket, and the proxy for the images that podman pulls.
func Podman() ([]asset.Unit, error) {
	text, err := files.ReadFile("podman-proxy.conf")
	if err != nil {
		return nil, err
	}
	return []asset.Unit{
		{Name: "podman.socket", Enabled: true, By: "units"},
		{Name: "podman.service", DropIns: []asset.DropIn{{
			Name: "10-onprem-proxy.conf", Contents: text,
		}}, By: "units"},
	}, nil
}

// VIPLeave releases the VIPs before the node's kubelet, containers and network are stopped. The
// scopes of containers have the name of their engine as a prefix.
func VIPLeave(kubelet string) ([]asset.Unit, error) {
	u, err := verbatim("onprem-vip-leave.service", true)
	if err != nil {
		return nil, err
	}
	if u.Contents, err = add(u.Contents, "Unit", "After", kubelet); err != nil {
		return nil, fmt.Errorf("order %s: %w", u.Name, err)
	}
	text, err := files.ReadFile("scope-leaves.conf")
	list := []asset.Unit{u}
	for _, scopes := range []string{"cri-containerd-.scope", "crio-.scope"} {
		list = append(list, asset.Unit{Name: scopes, DropIns: []asset.DropIn{{
			Name: "10-onprem-vip-leave.conf", Contents: text,
		}}, By: "units"})
	}
	return list, err
}

func verbatim(name string, enabled bool) (asset.Unit, error) {
	text, err := files.ReadFile(name)
	return asset.Unit{Name: name, Enabled: enabled, Contents: text, By: "units"}, err
}

// named is a unit in files.
type named struct {
	name    string
	enabled bool
}

func verbatimAll(units ...named) (list []asset.Unit, err error) {
	for _, u := range units {
		one, err := verbatim(u.name, u.enabled)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// add appends an option to a section, which the unit must have.
func add(text []byte, section, name, value string) ([]byte, error) {
	options, err := unit.DeserializeOptions(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	for i := len(options) - 1; i >= 0; i-- {
		if options[i].Section == section {
			options = slices.Insert(options, i+1, unit.NewUnitOption(section, name, value))
			return io.ReadAll(unit.Serialize(options))
		}
	}
	return nil, fmt.Errorf("the unit has no section %s", section)
}

// setEnvironment sets a variable, which the unit must have.
func setEnvironment(text []byte, name, value string) ([]byte, error) {
	options, err := unit.DeserializeOptions(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	for _, o := range options {
		if o.Section == "Service" && o.Name == "Environment" &&
			strings.HasPrefix(o.Value, name+"=") {
			o.Value = quote(name + "=" + value)
			return io.ReadAll(unit.Serialize(options))
		}
	}
	return nil, fmt.Errorf("the unit has no Environment=%s=", name)
}
