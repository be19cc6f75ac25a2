package provision

import (
	"fmt"
	"time"
)

// Fields are the fields of a cluster.yaml from which a host compiles the same plan, with every
// default written out and without credentials.
func (p *Plan) Fields() (settings map[string]any, hosts []map[string]any) {
	settings = map[string]any{"network": string(p.Network)}
	set(settings, "cidr", valid(p.CIDR))
	set(settings, "interface", p.Interface)
	set(settings, "address", string(p.Address))
	set(settings, "ip", valid(p.IP))
	set(settings, "bootstrapIP", valid(p.BootstrapIP))
	set(settings, "bmcCA", p.BMCCAFile)
	set(settings, "volumeClaim", p.VolumeClaim)
	if len(p.MACs) > 0 {
		settings["macs"] = texts(p.MACs)
	}
	if len(p.ExpectedServers) > 0 {
		settings["expectedServers"] = p.ExpectedServers
	}
	dhcp := map[string]any{}
	if d := p.DHCP; d != nil {
		set(dhcp, "unknown", d.Unknown)
		set(dhcp, "range", d.First.String()+","+d.Last.String())
		set(dhcp, "lease", (time.Duration(d.LeaseSeconds) * time.Second).String())
		set(dhcp, "gateway", valid(d.Gateway))
		if len(d.DNS) > 0 {
			dhcp["dns"] = texts(d.DNS)
		}
	}
	if len(p.NTP) > 0 {
		dhcp["ntp"] = p.NTP
	}
	if len(dhcp) > 0 {
		settings["dhcp"] = dhcp
	}
	for _, h := range p.Hosts {
		hosts = append(hosts, map[string]any{"name": h.Name, "role": h.Role,
			"bootMAC": h.MAC.String(), "bootMode": h.BootMode,
			"bmc": map[string]string{"address": h.BMC, "verify": h.Verify}})
	}
	return settings, hosts
}

func set(fields map[string]any, name, text string) {
	if text != "" {
		fields[name] = text
	}
}

func valid(v interface {
	IsValid() bool
	String() string
}) string {
	if !v.IsValid() {
		return ""
	}
	return v.String()
}

func texts[T fmt.Stringer](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = v.String()
	}
	return all
}
