//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision"
	deploy "github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bootfiles/item"
	hostevents "github.com/onprem-infra/onprem-infra/shared/host/events"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/installation"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/host/ironic"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	hostledger "github.com/onprem-infra/onprem-infra/shared/host/ledger"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight/targets"
	"github.com/onprem-infra/onprem-infra/shared/host/readiness"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	hostplan "github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func runProvisionCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "provision",
		Short: "Install the control plane hosts from the bootstrap machine",
		Long: `provision orders the parts that install hosts (address, http, ironic, dhcp) on
and off, and has Ironic write the operating system and the Ignition document to each control plane
host. When all of them have joined the cluster it hands provisioning over: its parts end, the
cluster's own Ironic starts, and the cluster's hosts begin in batches. Each step is in
` + layout.Journal + ` before it has an effect: after a power cut
it goes on, and no disk is written twice.`,
		Example: `  onprem-infra bootstrap run provision
  journalctl -u onprem-provision`,
		Args: cobra.NoArgs,
	}
	m := newMachine("bootstrap/provision", std)
	m.clusterFlag(cmd)
	kubeconfig := cmd.Flags().String("kubeconfig", "/etc/kubernetes/kubeconfig",
		"credentials for the machine's own API server; may appear later")
	cmd.RunE = m.running(std, func(ctx context.Context, p plan.Plan, _ string) error {
		if p.Provisioning == nil || p.Images[spec.IronicImage] == "" {
			return errNoIronic
		}
		host, err := newProvisionHost(p)
		if err != nil {
			return err
		}
		var nodes *kube.Watcher
		kept := onHost.Nodes(m.log) // by another program
		known := func() []addr.Candidate {
			if all := nodes.Members(); len(all) > 0 {
				return all
			}
			return kept
		}
		nodes = kube.NewInstalledWatcher(*kubeconfig, m.log, apiServers(p, known))
		room := provision.New(provision.Options{
			Settings: provision.Settings{Plan: p.Provisioning, CA: layout.BMCCA,
				Kernel: host.url(layout.AgentKernel), Ramdisk: host.url(layout.AgentInitramfs),
				Name: machineName(), Own: ownCluster(p)},
			Cluster: handedCluster(p, *kubeconfig, m.log, known),
			Host:    host, Journal: hostledger.Journal, Now: time.Now, Wake: m.wake,
			Notifier: &m.status,
			Ironic: ironic.New(ironic.Options{URL: "https://" + net.JoinHostPort(
				p.Provisioning.IronicHost(), fmt.Sprint(p.Ports[port.Ironic])),
				Certificate: layout.Certificate, Account: layout.Account}),
			Preflight: host,
			Joined:    nodes.Nodes,
		})
		m.meter.Add(room.Metrics)
		m.meter.Add(installed)
		return runRoom(ctx, m, stepsOf(room), func(ctx context.Context) {
			m.serve(ctx, p, p.Ports[port.MonitorProvision], nil)
			m.watchAPI(ctx, "nodes", nodes)
			m.watch(ctx, "the check of the hosts", room.Check)
			m.watchFiles(ctx, "reports", host.watched()...)
		})
	})
	return cmd
}

// machineName is this machine's host name, for people.
func machineName() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "bootstrap"
}

// installed adds to a metrics page how far the installation of hosts is, as status reports it.
func installed(page *metrics.Page) {
	now := time.Now()
	r := installation.Read(inspect.Files{}, nil, now, &inspect.Unseen{})
	if r != nil && !r.At.IsZero() {
		r.Metrics(now).Onto(page)
	}
}

// provisionHost is the machine for the room.
type provisionHost struct {
	hostorders.Dir
	plan   plan.Plan
	images string // URL of their directory
}

// newProvisionHost takes the address at which hosts reach this machine from those that it
// installs: others reach the cluster's Ironic, which may have another address.
func newProvisionHost(p plan.Plan) (*provisionHost, error) {
	h := &provisionHost{Dir: hostorders.Run, plan: p}
	for _, planned := range p.Provisioning.Deployed() {
		at, err := url.Parse(planned.Ironic)
		if err != nil {
			continue
		}
		if a, err := netip.ParseAddr(at.Hostname()); err == nil {
			h.images = "http://" + netip.AddrPortFrom(a, p.Ports[port.ProvisioningHTTP]).String() +
				"/" + path.Base(layout.Images) + "/"
			return h, nil
		}
	}
	return nil, errors.New("the plan has no host that this machine installs: describe their BMCs")
}

// url is where hosts fetch a file below layout.Images.
func (h *provisionHost) url(file string) string { return h.images + path.Base(file) }

// watched are the files whose changes start another round of the phase machine.
func (h *provisionHost) watched() (paths []string) {
	for _, p := range orders.Parts() {
		paths = append(paths, h.ReportFile(p))
	}
	for _, planned := range h.plan.Provisioning.Hosts {
		paths = append(paths, h.RewriteFile(planned.Name))
	}
	return append(paths, h.ReversalFile(), h.AcceptancesFile())
}

func (h *provisionHost) Orders() (orders.Orders, error) { return h.Read() }

func (h *provisionHost) WriteOrders(o orders.Orders) error { return h.Write(o) }

func (h *provisionHost) Rewrite(host string) (orders.Rewrite, error) {
	return h.ReadRewrite(host)
}

func (h *provisionHost) Reversal() (orders.Reversal, error) { return h.ReadReversal() }

func (h *provisionHost) Acceptances() ([]orders.Acceptance, error) { return h.ReadAcceptances() }

func (h *provisionHost) Foreign() (foreign.List, error) { return readForeign() }

func (h *provisionHost) Report(p orders.Part) (orders.Report, error) { return h.ReadReport(p) }

// ready is what Run checks beside the BMCs.
func (h *provisionHost) ready() readiness.Host {
	return readiness.Host{Plan: h.plan.Provisioning, Probes: provisioning.HostProbes(),
		Machine: true, Files: wantedFiles(h.plan, true)}
}

// Run checks the files, the link and the BMCs, with the accounts of this machine's file.
func (h *provisionHost) Run(ctx context.Context, joined []string) (blocking, warnings []string) {
	ready := h.ready()
	secrets, _, err := h.Secrets()
	if err == nil {
		ready.Targets, err = targets.Planned(h.plan.Provisioning.Hosts, secrets)
	}
	if err != nil {
		return []string{err.Error()}, nil
	}
	setWants(ready.Targets, joined)
	return ready.Run(ctx)
}

// setWants sets what is wanted of hosts while this machine installs: those that have joined are to
// run.
func setWants(of []preflight.Target, joined []string) {
	for i, t := range of {
		// Which disk is meant is decided by what the ramdisk finds, for each host by itself: a BMC
		// may list the members of an array.
		of[i].Want.Ours = false
		of[i].Want.Running = slices.Contains(joined, t.Host)
	}
}

// Secrets returns the hosts' secrets, with their file's size and time to recognise a change.
func (h *provisionHost) Secrets() (hostfile.File, string, error) {
	info, err := os.Stat(layout.Hosts)
	if err != nil {
		return hostfile.File{}, "", fmt.Errorf("read the file of the hosts' secrets: %w", err)
	}
	text, err := os.ReadFile(layout.Hosts)
	if err != nil {
		return hostfile.File{}, "", fmt.Errorf("read the file of the hosts' secrets: %w", err)
	}
	f, err := hostfile.Decode(text)
	if err != nil {
		return hostfile.File{}, "", fmt.Errorf("%s: %w", layout.Hosts, err)
	}
	return f, fmt.Sprintf("%d bytes of %s", info.Size(),
		info.ModTime().UTC().Format(time.RFC3339Nano)), nil
}

// Image is the one that the HTTP server has checked: it writes the digest beside it.
func (h *provisionHost) Image() (node.Image, error) { return h.image(layout.Images) }

// image is the description's image. A leftover of a former one may have the other format.
func (h *provisionHost) image(dir string) (node.Image, error) {
	items, err := item.Of(h.plan, hostplan.Bootstrap)
	if err != nil {
		return node.Image{}, err
	}
	i := slices.IndexFunc(items, func(i item.Item) bool { return i.Name == spec.OSImage })
	image := path.Join(dir, path.Base(items[i].Path)) // each plan has one
	text, err := file.Read(image + layout.Digest)
	if err != nil {
		return node.Image{}, fmt.Errorf("read the digest of the operating system: %w", err)
	}
	sum, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if sum == "" {
		return node.Image{}, fmt.Errorf("%s has no digest beside it: see the journal of "+
			"onprem-httpd", image)
	}
	return node.Image{URL: h.url(image), SHA256: sum,
		Format: strings.TrimPrefix(path.Ext(image), ".")}, nil
}

// Traces are what the servers wrote of the hosts since this machine booted.
func (h *provisionHost) Traces() (map[string]deploy.Trace, error) {
	var all []events.Event
	for _, s := range events.Sources() {
		some, _, err := hostevents.Of(s).Read()
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return tracesOf(all, h.plan.Provisioning.Hosts, time.Now()), nil
}

// tracesOf are what events show of hosts. Requests from an unknown address count for no host,
// and may be of any.
func tracesOf(all []events.Event, hosts []hostplan.Host, now time.Time) map[string]deploy.Trace {
	events.Sort(all)
	var since time.Time
	var unnamed []events.Event
	for _, e := range all {
		if e.Source == events.HTTP && since.IsZero() {
			since = e.Time
		}
		if e.Unnamed() {
			unnamed = append(unnamed, e)
		}
	}
	traces := map[string]deploy.Trace{}
	for _, planned := range hosts {
		of := events.Of(all, planned.Name, planned.MAC)
		traces[planned.Name] = deploy.Trace{Cause: cause.Of(of, now).Among(unnamed), Since: since,
			Fetched: fetched(of), Unnamed: fetched(unnamed)}
	}
	return traces
}

// fetched is when a host had fetched the image last; zero if it has not. A range of the image
// counts as the image, as what is in doubt is not written again; a transfer that broke off does
// not.
func fetched(all []events.Event) (at time.Time) {
	for _, e := range all {
		if e.Source == events.HTTP && e.Kind == string(access.Image) {
			at = e.Time
		}
	}
	return at
}

// Note appends to the file of each event's source.
func (h *provisionHost) Note(all ...events.Event) (err error) {
	of := map[events.Source][]events.Event{}
	for _, e := range all {
		of[e.Source] = append(of[e.Source], e)
	}
	for _, s := range events.Sources() {
		err = errors.Join(err, hostevents.Of(s).Append(of[s]...))
	}
	return err
}

func (h *provisionHost) Show(p progress.Progress) error {
	return file.Write(layout.Progress, progress.Encode(p), 0o644)
}
