// Package ironic runs Ironic on the bootstrap machine while the phase machine orders it: it makes
// what Ironic needs, keeps its container running, and reports when a conductor serves drivers.
package ironic

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Name is the name of Ironic's container.
const Name = "onprem-ironic"

// Files are what Ironic reads and this room makes, except the certificate and the account.
type Files struct{ Config, Template, Script []byte }

// Host is the machine as the room reads and changes it.
type Host interface {
	Orders() (orders.Orders, error)
	Report(orders.Report) error
	// Has reports whether the machine has an address.
	Has(address netip.Addr) (bool, error)
	// Identify makes the certificate for the names, and the account, if they do not exist. It
	// returns the certificate in PEM. If that changes, Ironic's container must be replaced.
	Identify(names []string) (certificate []byte, err error)
	// Write makes Ironic's directories, and replaces the files that differ. The archive has the
	// certificate for the ramdisks, which verify Ironic by it.
	Write(files Files, archive []byte) error
	// Loader is where the boot loader of virtual media reads its configuration. It is an error
	// until the file is fetched.
	Loader() (string, error)
	// Trust writes the certificates by which BMCs are verified. Ironic reads them at each use.
	Trust() error
	// Serves returns the drivers that a conductor serves. It queries Ironic's API with the
	// account, and accepts an answer only from a server with the certificate.
	Serves(ctx context.Context) (drivers []string, err error)
	// Closed reports whether nothing listens at Ironic's port.
	Closed(ctx context.Context) bool
}

// Daemon keeps Ironic's container.
type Daemon interface {
	Ensure(ctx context.Context, spec container.Spec) error
	Stop(ctx context.Context, name string) error
	Running() bool
}

// Options are what a Room needs. The plan has hosts that are provisioned.
type Options struct {
	Plan     plan.Plan
	Host     Host
	Daemon   Daemon
	Notifier loop.Notifier
	Now      func() time.Time
}

// Room is the bootstrap machine's Ironic. Its methods are the steps of a loop and for one
// goroutine.
type Room struct {
	Options
	reports *orders.Reporter
	status  loop.Reporter

	drivers, running atomic.Int64
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room {
	return &Room{Options: o, reports: orders.NewReporter(orders.Ironic),
		status: loop.Reporter{Notifier: o.Notifier}}
}

// Metrics writes what the room's metrics are now. It may be called by any goroutine.
func (r *Room) Metrics(page *metrics.Page) {
	page.Add(metrics.IronicRunning, float64(r.running.Load()))
	page.Add(metrics.IronicDrivers, float64(r.drivers.Load()))
}

// Container is Ironic's container. It holds no capability: its port is not privileged, and its
// files are root's. A change of what Ironic reads only at its start makes it another container.
//
// Ironic uses no proxy: BMCs, ramdisks and the HTTP server are local. A list of their networks in
// NO_PROXY would not suffice, as Python matches no IPv6 network in it.
func Container(p plan.Plan, f Files, certificate []byte) container.Spec {
	return container.Spec{
		Name: Name, Image: p.Images[spec.IronicImage],
		Command: ironic.Command(layout.IronicConf, ironic.Machine()),
		Mounts: []container.Mount{
			{Source: layout.State, Target: layout.State},
			{Source: layout.Run + "/ironic", Target: layout.Run + "/ironic", ReadOnly: true},
		},
		Tmpfs: []string{"/tmp", "/run/lock"},
		Env: map[string]string{
			"HOME": "/tmp", "LC_ALL": "C.UTF-8", "NO_PROXY": "*", "no_proxy": "*",
			"ONPREM_CONFIGURATION": digest(f.Config, f.Template, f.Script, certificate),
		},
	}
}

func digest(texts ...[]byte) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		sum := sha256.Sum256(text)
		all[i] = hex.EncodeToString(sum[:])
	}
	sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
	return hex.EncodeToString(sum[:])
}
