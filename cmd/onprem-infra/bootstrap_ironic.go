//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/daemon"
	"github.com/onprem-infra/onprem-infra/bootstrap/ironic"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/identity"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/spec"

	config "github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
)

const (
	// ironicStart is more than Ironic needs to make its database and to serve on a slow disk.
	ironicStart = 10 * time.Minute
	// ironicAnswer is more than a busy Ironic needs for an answer. Two of them fit between two
	// reports.
	ironicAnswer = 3 * time.Second
)

var errNoIronic = errors.New("this machine provisions no hosts: describe their BMCs and name " +
	"ironicImage among the images of the cluster description, or do not run this program")

func runIronicCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ironic",
		Short: "Run Ironic on the bootstrap machine, which installs the hosts",
		Long: `ironic launches Ironic in a container while the phase machine orders it, and reports
when it serves its drivers. It makes Ironic's configuration from the cluster description, and a
certificate and the account of its API, which stay on this machine. Ironic goes on when this program
stops, unless the orders are off.`,
		Example: `  onprem-infra bootstrap run ironic
  journalctl -u onprem-ironic`,
		Args: cobra.NoArgs,
	}
	m := containerFlags(cmd, std, "bootstrap/ironic")
	m.pullLock = layout.Pull
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if p.Provisioning == nil || p.Images[spec.IronicImage] == "" {
			return errNoIronic
		}
		host := newIronicHost(p)
		room := ironic.New(ironic.Options{Plan: p, Host: host, Daemon: m.ironicKeeper(host),
			Notifier: &m.status, Now: time.Now})
		m.meter.Add(room.Metrics)
		return runRoom(ctx, m, stepsOf(room), func(ctx context.Context) {
			m.serve(ctx, p, p.Ports[port.MonitorIronic], nil)
			m.watchFiles(ctx, "orders", host.dir.File())
		})
	})
	return cmd
}

// ironicKeeper keeps Ironic's container, whose probe is an answer of its API.
func (m *machine) ironicKeeper(host *ironicHost) *daemon.Keeper {
	return m.keeper(daemon.Patient(ironicStart, func(ctx context.Context, _ daemon.Process) error {
		ctx, cancel := context.WithTimeout(ctx, ironicAnswer)
		defer cancel()
		err := host.asker.Answers(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("its API does not answer within %v", ironicAnswer)
		}
		return err
	}), nil)
}

// ironicHost is the machine for the room.
type ironicHost struct {
	dir   hostorders.Dir
	files identity.Files
	asker *identity.Asker
	bmcs  *identity.BMCs
	own   netip.Addr // at which alone it listens; invalid for the loopback
	host  string     // own, or localhost
	port  uint16
}

func newIronicHost(p plan.Plan) *ironicHost {
	files, number := identity.Machine(), p.Ports[port.Ironic]
	at := p.Provisioning.IronicHost()
	return &ironicHost{dir: hostorders.Run, files: files, host: at, port: number,
		own:   p.Provisioning.Own(),
		asker: &identity.Asker{Files: files, Host: at, Port: number},
		bmcs:  &identity.BMCs{Hosts: layout.Hosts}}
}

func (h *ironicHost) Orders() (orders.Orders, error) { return h.dir.Read() }

func (h *ironicHost) Report(r orders.Report) error { return h.dir.WriteReport(r) }

func (*ironicHost) Has(a netip.Addr) (bool, error) {
	_, here, err := link.Holder(a)
	return here, err
}

func (h *ironicHost) Identify(names []string) ([]byte, error) {
	if _, err := h.files.Ensure(names, time.Now()); err != nil {
		return nil, err
	}
	return os.ReadFile(h.files.Certificate)
}

// Loader reads the file system that the HTTP server has fetched.
func (h *ironicHost) Loader() (string, error) {
	grub, err := loaderConfig(layout.Loader)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is not fetched yet: see the journal of onprem-httpd",
			layout.Loader)
	}
	return grub, err
}

// loaderConfig is where the GRUB in a file system of a few megabytes reads its configuration.
func loaderConfig(path string) (string, error) {
	const most = 64 << 20
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the boot loader of virtual media: %w", err)
	}
	defer f.Close()
	esp, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", fmt.Errorf("read the boot loader of virtual media: %w", err)
	}
	grub, err := config.GRUBConfig(esp)
	if err != nil {
		return "", fmt.Errorf("%s: %w: choose another ironicImage", path, err)
	}
	return grub, nil
}

func (h *ironicHost) Trust() error { return h.bmcs.Write(layout.BMCCA) }

func (h *ironicHost) Write(f ironic.Files, archive []byte) error {
	if err := os.MkdirAll(layout.Ironic, 0o700); err != nil {
		return err
	}
	paths := config.Machine()
	for _, dir := range []string{paths.Images, paths.TFTP, path.Dir(layout.IronicConf)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		path    string
		content []byte
	}{
		{layout.IronicConf, f.Config}, {paths.Template, f.Template}, {paths.Script, f.Script},
		{path.Join(paths.Images, config.TrustFile), archive},
	} {
		if _, err := file.WriteIfChanged(one.path, one.content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (h *ironicHost) Serves(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, ironicAnswer)
	defer cancel()
	drivers, err := h.asker.Drivers(ctx)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("its API does not answer within %v", ironicAnswer)
	}
	return drivers, err
}

// Closed reports whether nothing listens at Ironic's port. It counts an address that this machine
// does not have as closed: the cluster's Ironic may be there.
func (h *ironicHost) Closed(ctx context.Context) bool {
	if h.own.IsValid() {
		if here, err := h.Has(h.own); err == nil && !here {
			return true
		}
	}
	ctx, cancel := context.WithTimeout(ctx, ironicAnswer)
	defer cancel()
	conn, err := localhost.Dial(ctx, "tcp", net.JoinHostPort(h.host, fmt.Sprint(h.port)))
	if err != nil {
		return true
	}
	_ = conn.Close()
	return false
}
