package spoken

// SocketsDir is where FRR's daemons have their own sockets, in a container.
const SocketsDir = "/run/frr"

// Command is the command line of FRR's container: program is the path of onprem-speak there.
func Command(program string, options ...string) []string {
	return append([]string{
		program, "--run-dir", RunDir, "--sockets", SocketsDir, "--passwords", PasswordsFile,
	}, options...)
}

// Capabilities are what onprem-speak and FRR's daemons need of the kernel, started as root, without
// CAP_. The daemons become FRR's own user at their start (SETUID, SETGID), whom their sockets'
// directory is given to (CHOWN), and are ended by another user then (KILL). BGP marks its packets
// and sets passwords of its sockets (NET_ADMIN), BFD sends from ports below 1024
// (NET_BIND_SERVICE), and FRR does not start without SYS_ADMIN (FRR's _caps_p, lib/privs.c): beyond
// that it is used to test a configuration in a network namespace where there is nothing.
func Capabilities(realTime bool) []string {
	all := []string{"CHOWN", "KILL", "NET_ADMIN", "NET_BIND_SERVICE", "NET_RAW", "SETGID",
		"SETUID", "SYS_ADMIN"}
	if realTime {
		all = append(all, "SYS_NICE")
	}
	return all
}
