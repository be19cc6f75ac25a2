package described

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// peers is the operator's text of routers: what the installer writes into config.json of the
// ConfigMap bgp-vip-config. VIPs are in it too; those of the cluster count.
//
// source: openshift/installer, pkg/asset/manifests, type bgpVIPConfigJSON.
type peers struct {
	ASN         any            `json:"localASN"`
	Peers       any            `json:"defaultPeers"`
	Communities any            `json:"communities"`
	Hosts       map[string]any `json:"hostOverrides"`
}

// sectionOf converts the text to the equivalent section of an install-config. No error has a part
// of the text.
func sectionOf(text string) ([]byte, error) {
	var p peers
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	err := decoder.Decode(&p)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, fmt.Errorf("is no JSON from byte %d on: fix config.json of the ConfigMap "+
			"bgp-vip-config in openshift-network-operator", syntax.Offset)
	}
	if _, more := decoder.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("more follows")
	}
	if err != nil {
		return nil, errors.New("is not one map, or its hostOverrides are none: fix config.json " +
			"of the ConfigMap bgp-vip-config in openshift-network-operator")
	}
	config := map[string]any{}
	for name, value := range map[string]any{
		"localASN": p.ASN, "peers": p.Peers, "communities": p.Communities,
	} {
		if value != nil {
			config[name] = spelled(value)
		}
	}
	var hosts []map[string]any
	for _, name := range slices.Sorted(maps.Keys(p.Hosts)) {
		hosts = append(hosts, map[string]any{"name": name, "bgpPeers": spelled(p.Hosts[name])})
	}
	section := map[string]any{"bgpVIPConfig": config}
	if len(hosts) > 0 {
		section["hosts"] = hosts
	}
	return json.Marshal(section)
}

// spelled is a list of routers as an install-config has it. In the operator's text ebgpMultiHop
// is a string, and a router without BFD has no field about it.
func spelled(value any) any {
	list, _ := value.([]any)
	for _, e := range list {
		router, ok := e.(map[string]any)
		if !ok {
			continue
		}
		if far := router["ebgpMultiHop"]; far == "true" || far == "false" {
			router["ebgpMultiHop"] = far == "true"
		}
		if !has(router, "bfdEnabled") && !has(router, "failureDetection") {
			router["bfdEnabled"] = "false"
		}
	}
	return value
}

// has reports whether a map has a field, as the reader of an install-config knows it.
func has(fields map[string]any, name string) bool {
	for field := range fields {
		if document.Fold(field) == document.Fold(name) {
			return true
		}
	}
	return false
}
