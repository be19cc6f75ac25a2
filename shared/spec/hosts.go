package spec

import (
	"bytes"
	"net"

	"github.com/onprem-infra/onprem-infra/shared/record"
)

// hosts reads the machines of a baremetal install-config; their BMC's address and password are not
// looked at.
func (r *reader) hosts(v value) []Host {
	elements, _ := r.list(v)
	names, macs := map[string]int{}, map[string]int{}
	var hosts []Host
	for _, e := range elements {
		o := r.object(e)
		if !o.given {
			continue
		}
		name, role, mac := r.text(r.field(o, "name")), r.text(r.field(o, "role")), r.text(r.field(o, "bootMACAddress"))
		if role.value != "" {
			r.oneOf(role, "master", "worker", "arbiter")
		}
		if name.ok {
			r.checkHostName(name)
			r.once(names, name.value, name)
		}
		if mac.ok {
			hw, err := net.ParseMAC(mac.value)
			switch {
			case err != nil || len(hw) != 6:
				r.errorf(mac.at, "%s is no MAC address: write six bytes, such as 52:54:00:00:00:01", quote(mac.value))
			case hw[0]&1 != 0, bytes.Equal(hw, make([]byte, 6)):
				r.errorf(mac.at, "%s is a group's address or all zeros, and no interface has it: write the address of the one that boots", quote(mac.value))
			default:
				r.once(macs, hw.String(), mac)
			}
		}
		hosts = append(hosts, Host{Name: name.value, Role: role.value, BootMACAddress: mac.value})
	}
	return hosts
}

// checkHostName holds a host's name to what the API takes as the name of an object, which it
// becomes: a DNS name in lower case.
func (r *reader) checkHostName(s said[string]) {
	if name, err := record.ParseName(s.value); err != nil || string(name) != s.value {
		r.errorf(s.at, "%s is no host name: use lower-case letters, digits, inner hyphens and dots, with at most %d characters between dots", quote(s.value), maxLabel)
	}
}

// once reports a value that an earlier host has too.
func (r *reader) once(seen map[string]int, key string, s said[string]) {
	if line, twice := seen[key]; twice {
		r.errorf(s.at, "%s is another host's too, at line %d: give each host its own", quote(s.value), line)
		return
	}
	seen[key] = s.at.line
}
