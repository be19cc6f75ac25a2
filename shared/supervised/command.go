package supervised

import "github.com/onprem-infra/onprem-infra/shared/keepalived"

// Command is the command line of keepalived's container: the supervisor's program and options,
// which include those that it passes to keepalived.
func Command(program string, options ...string) []string {
	command := []string{
		program, "--config", keepalived.Dir + "/" + keepalived.File, "--run-dir", RunDir,
	}
	return append(append(command, options...), "--", "keepalived")
}
