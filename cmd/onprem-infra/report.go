package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/operator/chronicle"
	"github.com/onprem-infra/onprem-infra/shared/operator/chronicle/install"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// reporting is what the verb was asked for.
type reporting struct {
	output string // the format
	last   int
	ahead  []string // HOST=DURATION
}

const reportLong = `report puts the journals of several hosts side by side and draws which host held
each virtual IP when: one picture for each time at which one moved, the last ones first, as
"simulate" draws its runs. Every host keeps a journal, /var/lib/onprem-infra/journal.jsonl: when it
held which VIP, and why. Where hosts announce VIPs to their routers by BGP it has when this one
did, its sessions, and which other hosts routers reported; a bootstrap machine has that in
` + journal.SpeakerPath + `. Several hosts that announce a VIP at once
are as they should be; report names each time in which none did, and which hosts served it then.

Of a bootstrap machine that installs hosts it also draws the installation: a lane for each host with
what dnsmasq, the HTTP server and Ironic saw of it until its Node joined, and the cause of each boot
that led nowhere. That machine keeps a journal, ` + layout.Journal + `,
for root, and events in ` + layout.Run + `/events-*.jsonl, which are gone
after a boot. Both are JOURNALs too, in one file or several, and so is the log of OpenShift's
machine config server, which has the first request of each host's Ignition.

It draws how the cluster's own operators provisioned the other hosts, from the objects that kubectl
has saved as below: a lane for each host, how long each phase took, and the last error of metal3.
With the Deployment of the cluster's own Ironic among them it shows when that was ready. Only
OpenShift has Machines: of any other Kubernetes leave them out. metal3 keeps the last time of each
phase alone: of a host that was registered again, a file that was saved before has the first one.

A JOURNAL is a file, HOST=FILE if the file's name is not the host's, or - for standard input. There
a line "==> HOST <==" begins the journal of each host. Without a JOURNAL it is this host's.

Times are those of the hosts' clocks. Handovers that two hosts have recorded show to some seconds
how far their clocks are apart; --ahead takes out what is known.`

func reportCommand(std streams) *cobra.Command {
	var r reporting
	cmd := &cobra.Command{
		Use:   "report --out FILE.html [JOURNAL...]",
		Short: "Draw a real handover or failure across hosts, from their journals",
		Long:  reportLong,
		Example: `  onprem-infra report --out vip.html
  onprem-infra report -o text
  ssh root@bootstrap cat ` + layout.Journal + ` \
    '` + layout.Run + `/events-*.jsonl' >installation.jsonl
  onprem-infra report --out hosts.html installation.jsonl
  kubectl get bmh,machines.machine.openshift.io,nodes,deployments,provisionings -A -o json >w.json
  onprem-infra report --out hosts.html installation.jsonl w.json
  onprem-infra report --out vip.html master-0=/tmp/m0.jsonl master-1=m1.jsonl --ahead master-1=7s
  for h in master-0 master-1 master-2; do
    echo "==> $h <=="; ssh "$h" cat /var/lib/onprem-infra/journal.jsonl
  done | onprem-infra report --out vip.html -`,
	}
	flags := cmd.Flags()
	forms := []string{htmlForm, "text"}
	w := writingFlags(cmd, std, "file to write; standard output without it")
	flags.StringVarP(&r.output, "output", "o", htmlForm,
		"format: html, or text with the table alone")
	flags.IntVar(&r.last, "last", 5,
		"how many of the times at which a virtual IP moved are drawn, counted from the end")
	flags.StringArrayVar(&r.ahead, "ahead", nil, "how far a host's clock is ahead of the others', "+
		"as HOST=DURATION; may be given more than once")
	completes(cmd, "output", forms)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		form, err := w.format(r.output, forms)
		if err != nil {
			return err
		}
		if r.last < 1 {
			return usage("--last is 1 or more")
		}
		all, err := readJournals(std, args)
		if err != nil {
			return err
		}
		if err := setClocks(all.hosts, r.ahead); err != nil {
			return err
		}
		vips, installed, err := all.pages(std, r.last)
		if err != nil {
			return negative(err)
		}
		w.reads(journalFiles(args)...)
		switch {
		case form == "text":
			return w.text(vips, installed)
		case vips == nil:
			return w.page(*installed)
		case installed != nil:
			vips.More = append(vips.More, *installed)
		}
		return w.page(*vips)
	}
	return cmd
}

// journals are what hosts have written down.
type journals struct {
	hosts     []chronicle.Host
	installed install.Record
}

// pages draw them: the VIPs of hosts, and the installation of hosts; nil for what there is not.
func (j journals) pages(std streams, last int) (vips, installed *timeline.Page, err error) {
	if !j.installed.Empty() {
		page := install.Page(j.installed)
		installed = &page
	}
	switch {
	case len(j.hosts) > 0:
	case installed != nil:
		return nil, installed, nil
	case len(j.installed.Saved) > 0:
		return nil, nil, errors.New("no BareMetalHost is among the objects: there is nothing to " +
			"draw")
	}
	page, err := chronicle.Page(j.hosts, last)
	switch {
	case err == nil:
		return &page, installed, nil
	case installed == nil:
		return nil, nil, err
	}
	return nil, installed, printMessage(std.err, "%v\n", err)
}

// text is what the pages have beside their pictures.
func (w *writing) text(vips, installed *timeline.Page) error {
	var parts []string
	if vips != nil {
		parts = append(parts, wrapped(vips.Note)+"\n"+tabled(vips.Head, vips.Cells()))
	}
	if installed != nil {
		parts = append(parts, install.Text(*installed, width()))
	}
	return w.document([]byte(strings.Join(parts, "\n")), unmarked)
}

// readJournals reads what the command line names, or this host's own journals.
func readJournals(std streams, args []string) (all journals, err error) {
	if len(args) == 0 {
		name, err := os.Hostname()
		if err != nil {
			return all, err
		}
		for _, path := range ownJournals() {
			args = append(args, name+"="+path)
		}
	}
	stdin := false
	for _, arg := range args {
		name, path := journalName(arg)
		if path != "-" {
			text, err := readJournal(path)
			if err == nil {
				err = all.add(std, name, text)
			}
			if err != nil {
				return all, err
			}
			continue
		}
		if stdin {
			return all, usage("standard input is read once: name it once")
		}
		stdin = true
		if err := all.addTogether(std, name); err != nil {
			return all, err
		}
	}
	return all, nil
}

// add takes in a file of a host with lines of journals of any kind.
func (j *journals) add(std streams, name string, text []byte) error {
	if j.takeObjects(std, name, text) {
		return nil
	}
	rest := j.take(std, name, text)
	if len(bytes.TrimSpace(rest)) == 0 && len(text) > 0 {
		return nil
	}
	return j.addVIPs(std, name, rest)
}

// takeObjects takes in a text of objects of the cluster's API, and reports whether it is one. It
// prints what cannot be read, and takes in the rest.
func (j *journals) takeObjects(std streams, name string, text []byte) bool {
	unread, ours := j.installed.TakeObjects(text)
	for _, what := range unread {
		_ = printMessage(std.err, "%s: %s\n", name, what)
	}
	return ours
}

// take takes in the lines about the installation of hosts, and returns the others. It prints how
// many lines cannot be read, and takes in the rest.
func (j *journals) take(std streams, name string, text []byte) []byte {
	rest, broken := j.installed.Take(text)
	if broken > 0 {
		lines := "lines"
		if broken == 1 {
			lines = "line"
		}
		_ = printMessage(std.err, "%s: %d %s of the installation of hosts cannot be read\n",
			name, broken, lines)
	}
	return rest
}

// addVIPs takes in the journal of a host's VIPs. A bootstrap machine has two, of VRRP and of BGP,
// and either is empty if the disk was full.
func (j *journals) addVIPs(std streams, name string, text []byte) error {
	own, err := journal.Decode(text)
	if err != nil {
		_ = printMessage(std.err, "%s: %v\n", name, err)
	}
	entries := own.Entries()
	at := slices.IndexFunc(j.hosts, func(h chronicle.Host) bool { return h.Name == name })
	switch {
	case at < 0:
		j.hosts = append(j.hosts, chronicle.Host{Name: name, Entries: entries})
	case len(entries) == 0, len(j.hosts[at].Entries) == 0,
		onlyRouted(entries) != onlyRouted(j.hosts[at].Entries):
		j.hosts[at].Entries = append(j.hosts[at].Entries, entries...)
	default:
		return usage("there are two journals of host %s: name their hosts, as HOST=FILE", name)
	}
	return nil
}

// onlyRouted reports whether a journal has what a host announces by BGP, and nothing else.
func onlyRouted(all []journal.Entry) bool {
	return len(all) > 0 && !slices.ContainsFunc(all,
		func(e journal.Entry) bool { return e.Kind == journal.OfElection })
}

// ownJournals are the files of this host: its journal, and what a bootstrap machine has written of
// VIPs by BGP and of the installation of hosts. Without any file it is the journal, whose
// absence is an error.
func ownJournals() (paths []string) {
	installation := []string{layout.Journal}
	for _, s := range events.Sources() {
		installation = append(installation, events.Former(s), events.Path(s))
	}
	paths = slices.DeleteFunc(append([]string{journal.Path, journal.SpeakerPath}, installation...),
		func(path string) bool {
			there, err := file.Exists(path)
			return err == nil && !there
		})
	if len(paths) == 0 {
		return []string{journal.Path}
	}
	return paths
}

// journalName splits HOST=FILE. Without HOST the file has the name of its host.
func journalName(arg string) (name, path string) {
	if host, file, ok := strings.Cut(arg, "="); ok && host != "" && !strings.Contains(host, "/") {
		return host, file
	}
	if arg == "-" {
		return "", arg
	}
	base := filepath.Base(arg)
	return strings.TrimSuffix(base, filepath.Ext(base)), arg
}

// journalFiles are the files that the command line names, or this host's own journals.
func journalFiles(args []string) (files []string) {
	if len(args) == 0 {
		return ownJournals()
	}
	for _, arg := range args {
		_, path := journalName(arg)
		files = append(files, path)
	}
	return files
}

// journalLimit is above what the journals of a whole cluster have.
const journalLimit = 16 * inputLimit

func readJournal(path string) ([]byte, error) {
	text, err := file.ReadGiven(path, journalLimit)
	if errors.Is(err, fs.ErrNotExist) {
		if path == journal.Path {
			return nil, fmt.Errorf("this host has no journal, %s: it has held no VIP yet, or is "+
				"not part of a cluster: name the journals of hosts that have one", path)
		}
		return nil, usage("there is no journal %s: a host keeps one at %s", path, journal.Path)
	}
	if errors.Is(err, file.ErrLong) {
		return nil, usage("%w: name the journals of fewer hosts", err)
	}
	return text, err
}

// addTogether takes in the journals on standard input.
func (j *journals) addTogether(std streams, name string) error {
	text, err := io.ReadAll(io.LimitReader(std.in, journalLimit+1))
	if err != nil {
		return unreadable(err)
	}
	if len(text) > journalLimit {
		return usage("standard input has more than %d bytes: name the journals of fewer hosts",
			journalLimit)
	}
	if j.takeObjects(std, "standard input", text) {
		return nil
	}
	texts, err := journal.Split(j.take(std, "standard input", text), name)
	if err != nil {
		return usage("%w", err)
	}
	for name, text := range texts {
		if len(bytes.TrimSpace(text)) == 0 && !j.installed.Empty() {
			continue // its lines were about the installation
		}
		if err := j.addVIPs(std, name, text); err != nil {
			return err
		}
	}
	return nil
}

// setClocks reads HOST=DURATION for each host.
func setClocks(hosts []chronicle.Host, ahead []string) error {
	for _, word := range ahead {
		name, text, ok := strings.Cut(word, "=")
		d, err := time.ParseDuration(text)
		if !ok || err != nil {
			return usage("--ahead %q is not HOST=DURATION, such as master-1=7s or master-1=-250ms",
				word)
		}
		at := slices.IndexFunc(hosts, func(h chronicle.Host) bool { return h.Name == name })
		if at < 0 {
			return usage("--ahead %q: there is no journal of host %s", word, name)
		}
		hosts[at].Ahead = d
	}
	return nil
}
