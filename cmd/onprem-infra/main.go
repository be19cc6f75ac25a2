// Command onprem-infra compiles a cluster's description into everything that its hosts need for
// their virtual IPs, load balancer and DNS, and runs there.
package main

import (
	"context"
	"os"
)

func main() {
	std := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}
	os.Exit(run(context.Background(), os.Args[1:], std))
}
