package spoken

import (
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// SocketsDir is where FRR's daemons have their own sockets, in a container.
const SocketsDir = "/run/frr"

// Command is the command line of FRR's container for a cluster's timing: program is the path of
// onprem-speak there.
func Command(program string, t bgp.Timing, options ...string) []string {
	command := []string{
		program, "--run-dir", RunDir, "--sockets", SocketsDir, "--passwords", PasswordsFile,
	}
	if realTime(t) {
		command = append(command, "--real-time")
	}
	return append(command, options...)
}

// Capabilities are what onprem-speak and FRR's daemons need of the kernel, started as root,
// without CAP_. The daemons change to FRR's own user at their start (SETUID, SETGID), which owns
// the directory of their sockets (CHOWN), so another user ends them (KILL). The parent sets VIPs,
// and BGP sets passwords of its sockets (NET_ADMIN), BFD sends from ports below 1024
// (NET_BIND_SERVICE) and receives by raw sockets (NET_RAW). FRR does not start without SYS_ADMIN
// (lib/privs.c and each daemon's list of privileges); the parent uses it to test a configuration
// in an empty network namespace. SYS_NICE is for real-time scheduling alone.
func Capabilities(t bgp.Timing) []string {
	all := []string{"CHOWN", "KILL", "NET_ADMIN", "NET_BIND_SERVICE", "NET_RAW", "SETGID",
		"SETUID", "SYS_ADMIN"}
	if realTime(t) {
		all = append(all, "SYS_NICE")
	}
	return all
}

// realTime reports whether routers end a session within less than a second, so that the daemon that
// sends them packets is scheduled before all that is not real-time, where the kernel permits it.
func realTime(t bgp.Timing) bool { return t.BFD != (bgp.BFD{}) && t.BFD.Detection() < time.Second }
