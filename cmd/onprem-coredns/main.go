// Command onprem-coredns is CoreDNS with the plugins that the project's Corefiles use, and with
// mdns, which answers for hosts that announce themselves by multicast DNS. It is a module of its
// own, so that what imports the project does not depend on CoreDNS.
package main

import (
	"os"
	"runtime/debug"
	"slices"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/acl"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/bufsize"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/log"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/root"
	_ "github.com/coredns/coredns/plugin/template"

	"github.com/onprem-infra/onprem-infra/cmd/onprem-coredns/mdns"
)

// Each query leaves a kilobyte of garbage, and the live heap has a few megabytes: with Go's
// default the collector would run all the time to free as few. GOGC and GOMEMLIMIT of the
// environment override these values.
const (
	garbage = 400       // percent of the live heap
	memory  = 256 << 20 // above it, in bytes, the collector runs as often as it must
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memory)
	}
	// After hosts: the API's addresses of a node are newer than those that it has announced.
	i := slices.Index(dnsserver.Directives, "hosts")
	dnsserver.Directives = slices.Insert(dnsserver.Directives, i+1, mdns.Name)
	mdns.Register()
	coremain.Run()
}
