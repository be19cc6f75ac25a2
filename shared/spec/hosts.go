package spec

import (
	"bytes"
	"net"

	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// hosts reads the machines of a baremetal install-config, without the address and password of their
// BMC.
func (r *reader) hosts(v document.Value) []Host {
	elements, _ := r.List(v)
	names, macs := map[string]int{}, map[string]int{}
	var hosts []Host
	for _, e := range elements {
		o := r.Map(e)
		if !o.Given {
			continue
		}
		name, role, mac := r.Text(r.Field(o, "name")), r.Text(r.Field(o,
			"role")), r.Text(r.Field(o, "bootMACAddress"))
		if role.Value != "" {
			r.oneOf(role, "master", "worker", "arbiter")
		}
		if name.OK {
			r.checkHostName(name)
			r.once(names, name.Value, name)
		}
		if mac.OK {
			hw, err := net.ParseMAC(mac.Value)
			switch {
			case err != nil || len(hw) != 6:
				r.Errorf(mac.At,
					"%s is no MAC address: write six bytes, such as 52:54:00:00:00:01",
					document.Quote(mac.Value))
			case hw[0]&1 != 0, bytes.Equal(hw, make([]byte, 6)):
				r.Errorf(mac.At, "%s is a group's address or all zeros, and no interface has it: "+
					"write the address of the one that boots", document.Quote(mac.Value))
			default:
				r.once(macs, hw.String(), mac)
			}
		}
		hosts = append(hosts, Host{Name: name.Value, Role: role.Value, BootMACAddress: mac.Value})
	}
	return hosts
}

// checkHostName holds a host's name to what the API takes as the name of an object, which it
// becomes: a DNS name in lower case.
func (r *reader) checkHostName(s document.Scalar[string]) {
	if name, err := record.ParseName(s.Value); err != nil || string(name) != s.Value {
		r.Errorf(s.At, "%s is no host name: use lower-case letters, digits, inner hyphens and "+
			"dots, with at most %d characters between dots", document.Quote(s.Value), maxLabel)
	}
}

// once reports a value that an earlier host has too.
func (r *reader) once(seen map[string]int, key string, s document.Scalar[string]) {
	if line, twice := seen[key]; twice {
		r.Errorf(s.At, "%s is another host's too, at line %d: give each host its own",
			document.Quote(s.Value), line)
		return
	}
	seen[key] = s.At.Line
}
