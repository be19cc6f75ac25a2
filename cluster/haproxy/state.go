package haproxy

import (
	"bytes"
	"fmt"
)

// The fields of a line of HAProxy's server states, version 1, that are not always the same:
// backend, server, address, operational state, seconds since it changed, the check's result, its
// counter, and the port.
const (
	stateHead = "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state " +
		"srv_uweight srv_iweight srv_time_since_last_change " +
		"srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state " +
		"bk_f_forced_id srv_f_forced_id srv_fqdn srv_port " +
		"srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port\n"
	stateLine = "0 %s %d %s %s %d 0 %d %d %d %d %d %d 6 0 0 0 - %d - 0 0 - - 0\n"
)

// States is the state file for a new worker. Without it HAProxy takes each server for up until a
// check fails. stats are the present worker's: its servers that are up stay up. The others are down
// until they pass one check.
func States(c Config, stats []Stat) []byte {
	var out bytes.Buffer
	out.WriteString(stateHead)
	for _, b := range c.backends() {
		for i, at := range b.servers {
			if !b.checked || !usable(at.Addr()) {
				continue
			}
			// Stopped, no result, one check short of rise; or running, passed, as high as rise and
			// fall allow.
			operational, since, status, result, count := 0, 0, 1, 0, c.Server.Rise-1
			for _, s := range stats {
				checked := s.Check != "" && s.Check != "INI"
				if s.Backend == b.name && s.Address == at && s.Up() && checked {
					operational, since, status, result = 2, s.Changed, 15, 3
					count = c.Server.Rise + c.Server.Fall - 1
				}
			}
			fmt.Fprintf(&out, stateLine, b.name, i+1, Server(i), at.Addr(), operational,
				b.weight, b.weight, since, status, result, count, at.Port())
		}
	}
	return out.Bytes()
}

// weight is that of API servers in the template.
const weight = 100
