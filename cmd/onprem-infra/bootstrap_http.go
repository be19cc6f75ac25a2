//go:build remote

package main

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/bootfiles"
	"github.com/onprem-infra/onprem-infra/shared/bootfiles/item"
	"github.com/onprem-infra/onprem-infra/shared/container"
	hostartifact "github.com/onprem-infra/onprem-infra/shared/host/artifact"
	hostevents "github.com/onprem-infra/onprem-infra/shared/host/events"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/fileserver"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

func runHTTPCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "http",
		Short: "Serve the ramdisk and the operating system to hosts",
		Long: `http fetches the ramdisk, the operating system and iPXE, from servers and out of
container images, and checks their digests. While the phase machine orders it, it serves them to
hosts over HTTP, and over TLS the virtual media that Ironic makes for their BMCs. Nothing with a
secret is served without TLS, and no file whose digest is not the right one.`,
		Example: `  onprem-infra bootstrap run http
  journalctl -u onprem-httpd`,
		Args: cobra.NoArgs,
	}
	m := containerFlags(cmd, std, "shared/bootfiles")
	m.pullLock = layout.Pull
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if p.Provisioning == nil {
			return errors.New("the hosts of this cluster are not provisioned: describe their " +
				"BMCs, or do not run this program")
		}
		room, err := m.httpRoom(p)
		if err != nil {
			return err
		}
		m.meter.Add(room.Metrics)
		return runRoom(ctx, m, stepsOf(room), func(ctx context.Context) {
			m.serve(ctx, p, p.Ports[port.MonitorHTTP], nil)
			m.watchFiles(ctx, "orders", layout.Orders)
		})
	})
	return cmd
}

// httpRoom is the room on a bootstrap machine.
func (m *machine) httpRoom(p plan.Plan) (*bootfiles.Room, error) {
	return m.filesRoom(bootfiles.Options{Plan: p, Phase: provision.Bootstrap,
		Host: httpHost{hostorders.Run}}, m.puller())
}

// filesRoom completes a room, whose server asks it which files it serves.
func (m *machine) filesRoom(o bootfiles.Options, engine images) (room *bootfiles.Room, err error) {
	o.Server = httpServer{fileserver.New(fileserver.Options{
		Root: layout.HTTP, Certificate: layout.Certificate, Key: layout.Key, Log: m.log,
		Judge: func(name string, tls bool) fileserver.Verdict {
			return fileserver.Verdict(room.Judge(name, tls))
		},
		Ended: func(a access.Access) { room.Ended(a) },
	})}
	o.Supplier = &httpItems{store: &hostartifact.Store{Records: layout.Sources},
		engine: engine, auth: m.authFile, work: layout.State}
	o.Notifier, o.Wake, o.Now, o.Log = &m.status, m.wake, time.Now, m.log
	room, err = bootfiles.New(o)
	return room, err
}

// httpHost is the machine for the room.
type httpHost struct{ dir hostorders.Dir }

func (h httpHost) Orders() (orders.Orders, error) { return h.dir.Read() }

func (h httpHost) Report(r orders.Report) error { return h.dir.WriteReport(r) }

func (httpHost) Certificate() bool {
	return file.Regular(layout.Certificate) && file.Regular(layout.Key)
}

func (httpHost) Append(all ...events.Event) error {
	return hostevents.Of(events.HTTP).Append(all...)
}

// httpServer is the server for the room.
type httpServer struct{ *fileserver.Server }

func (s httpServer) Open(ctx context.Context, plain, tls []netip.AddrPort) error {
	if err := os.MkdirAll(s.Root, 0o755); err != nil {
		return err
	}
	return s.Server.Open(ctx, fileserver.Addresses{Plain: plain, TLS: tls})
}

// images is podman for the items.
type images interface {
	HasImage(ctx context.Context, ref string) (bool, error)
	Pull(ctx context.Context, ref, authFile string) error
	Extract(ctx context.Context, ref string, wanted []container.Wanted, dir string) (
		map[string]string, error)
}

// httpItems gets the room's items: files of other servers, and those of container images.
type httpItems struct {
	store  *hostartifact.Store
	engine images
	auth   string
	work   string // the directory of what is copied out of images
}

// source is what an item's files are known by.
func source(of item.Item) string {
	if of.Path != "" {
		return hostartifact.Source(of.Artifact)
	}
	return of.From
}

func (h *httpItems) Check(of item.Item) ([]bootfiles.File, error) {
	files, err := h.store.Check(of.Name, source(of))
	if errors.Is(err, hostartifact.ErrAbsent) {
		return nil, nil
	}
	return roomFiles(files), err
}

func (h *httpItems) Supply(ctx context.Context, of item.Item,
	progress func(done, total int64)) ([]bootfiles.File, error) {
	if of.Path != "" {
		files, err := h.store.Fetch(ctx, of.Name, of.Artifact, of.Path, progress)
		return roomFiles(files), err
	}
	present, err := h.engine.HasImage(ctx, of.From)
	if err == nil && !present {
		err = h.engine.Pull(ctx, of.From, h.auth)
	}
	if err != nil {
		return nil, err
	}
	files, err := h.extract(ctx, of)
	return roomFiles(files), err
}

// extract copies an item's files out of its image, which is present.
func (h *httpItems) extract(ctx context.Context, of item.Item) ([]hostartifact.File, error) {
	dir := filepath.Join(h.work, ".extract-"+of.Name) // a killed program may have left one
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var wanted []container.Wanted
	for _, w := range of.Wanted {
		wanted = append(wanted, w.Wanted)
	}
	found, err := h.engine.Extract(ctx, of.From, wanted, dir)
	if err != nil {
		return nil, err
	}
	if missing := of.Missing(func(name string) bool { return found[name] != "" }); missing != "" {
		return nil, errors.New("image " + of.From + " has no file for " + missing +
			": choose another image")
	}
	var staged []hostartifact.Staged
	for _, w := range of.Wanted {
		for _, to := range w.To {
			if from := found[w.Name]; from != "" {
				staged = append(staged, hostartifact.Staged{From: from, To: to})
			}
		}
	}
	return h.store.Adopt(of.Name, source(of), staged)
}

// Same compares what the kernel knows of files: a file that was written has another time or size.
func (h *httpItems) Same(files []bootfiles.File) bool {
	for _, f := range files {
		info, err := os.Stat(f.Path)
		if err != nil || !info.Mode().IsRegular() || info.Size() != f.Size ||
			!info.ModTime().Equal(f.Changed) {
			return false
		}
	}
	return true
}

func roomFiles(files []hostartifact.File) []bootfiles.File {
	var all []bootfiles.File
	for _, f := range files {
		one := bootfiles.File{Path: f.Path, Size: f.Size}
		if info, err := os.Stat(f.Path); err == nil {
			one.Changed = info.ModTime()
		}
		all = append(all, one)
	}
	return all
}
