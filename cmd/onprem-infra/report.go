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

	"github.com/onprem-infra/onprem-infra/shared/operator/chronicle"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// reporting is what the verb was asked for.
type reporting struct {
	output string // the format
	last   int
	ahead  []string // HOST=DURATION
}

const reportLong = `report puts the journals of several hosts side by side and draws who held each virtual IP when: one
picture for each time at which one moved, the last ones first, as "simulate" draws what is computed.
Every host keeps a journal, /var/lib/onprem-infra/journal.jsonl: who held it, since when, and why.

A JOURNAL is a file, HOST=FILE where the file's name does not say whose it is, or - for standard
input. There a line "==> HOST <==" begins the journal of each host. Without one it is this host's.

Times are those of the hosts' clocks. How far they are apart is told by hand-overs that two hosts
have written down, to some seconds; --ahead takes out what is known.`

func reportCommand(std streams) *cobra.Command {
	var r reporting
	cmd := &cobra.Command{
		Use:   "report --out FILE.html [JOURNAL...]",
		Short: "Draw a real hand-over or failure across hosts, from their journals",
		Long:  reportLong,
		Example: `  onprem-infra report --out vip.html
  onprem-infra report -o text
  onprem-infra report --out vip.html master-0=/tmp/m0.jsonl master-1=m1.jsonl --ahead master-1=7s
  for h in master-0 master-1 master-2; do
    echo "==> $h <=="; ssh "$h" cat /var/lib/onprem-infra/journal.jsonl
  done | onprem-infra report --out vip.html -`,
	}
	flags := cmd.Flags()
	forms := []string{htmlForm, "text"}
	w := writingFlags(cmd, std, "file to write; standard output without it")
	flags.StringVarP(&r.output, "output", "o", htmlForm, "format: html, or text with the table alone")
	flags.IntVar(&r.last, "last", 5, "how many of the times at which a virtual IP moved are drawn, counted from the end")
	flags.StringArrayVar(&r.ahead, "ahead", nil, "how far a host's clock is ahead of the others', as HOST=DURATION; may be given more than once")
	completes(cmd, "output", forms)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		form, err := w.format(r.output, forms)
		if err != nil {
			return err
		}
		if r.last < 1 {
			return usage("--last is 1 or more")
		}
		hosts, err := readJournals(std, args)
		if err != nil {
			return err
		}
		if err := setClocks(hosts, r.ahead); err != nil {
			return err
		}
		page, err := reportPage(hosts, r.last)
		if err != nil {
			return err
		}
		w.reads(journalFiles(args)...)
		if form == "text" {
			return w.document([]byte(wrapped(page.Note)+"\n"+tabled(page.Head, page.Cells())), unmarked)
		}
		return w.page(page)
	}
	return cmd
}

// readJournals reads what the command line names, or this host's own journal.
func readJournals(std streams, args []string) (hosts []chronicle.Host, err error) {
	if len(args) == 0 {
		name, err := os.Hostname()
		if err != nil {
			return nil, err
		}
		args = []string{name + "=" + journal.Path}
	}
	stdin := false
	for _, arg := range args {
		name, path := journalName(arg)
		texts := map[string][]byte{}
		if path == "-" {
			if stdin {
				return nil, usage("standard input is read once: name it once")
			}
			stdin = true
			texts, err = readTogether(std, name)
		} else {
			texts[name], err = readJournal(path)
		}
		if err != nil {
			return nil, err
		}
		for name, text := range texts {
			if slices.ContainsFunc(hosts, func(h chronicle.Host) bool { return h.Name == name }) {
				return nil, usage("there are two journals of host %s: say whose they are, as HOST=FILE", name)
			}
			j, err := journal.Decode(text)
			if err != nil {
				_ = say(std.err, "%s: %v\n", name, err) // the rest holds
			}
			hosts = append(hosts, chronicle.Host{Name: name, Entries: j.Entries()})
		}
	}
	return hosts, nil
}

// journalName takes HOST=FILE apart. A file that stands alone is called as its host is.
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

// journalFiles are the files that the command line names, or this host's own journal.
func journalFiles(args []string) (files []string) {
	if len(args) == 0 {
		return []string{journal.Path}
	}
	for _, arg := range args {
		_, path := journalName(arg)
		files = append(files, path)
	}
	return files
}

func readJournal(path string) ([]byte, error) {
	text, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if path == journal.Path {
			return nil, fmt.Errorf("this host has no journal, %s: it has held no VIP yet, or is not part of a cluster: name the journals of hosts that have one", path)
		}
		return nil, usage("there is no journal %s: a host keeps one at %s", path, journal.Path)
	}
	return text, err
}

// readTogether reads standard input: one host's journal where it has a name, and several with a
// line of their own before each.
func readTogether(std streams, name string) (map[string][]byte, error) {
	text, err := io.ReadAll(io.LimitReader(std.in, 16*inputLimit))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w: give it a file or a pipe that can be read", err)
	}
	texts := map[string][]byte{}
	for line := range bytes.Lines(text) {
		if host, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("==> ")); ok && bytes.HasSuffix(host, []byte(" <==")) {
			name = string(bytes.TrimSpace(bytes.TrimSuffix(host, []byte("<=="))))
			if _, twice := texts[name]; twice {
				return nil, usage("standard input has two journals of host %s", name)
			}
			texts[name] = nil
			continue
		}
		if name == "" && len(bytes.TrimSpace(line)) > 0 {
			return nil, usage(`standard input does not say whose journal it is: begin it with a line "==> HOST <==", or write HOST=-`)
		}
		texts[name] = append(texts[name], line...)
	}
	return texts, nil
}

// setClocks reads HOST=DURATION for each host.
func setClocks(hosts []chronicle.Host, ahead []string) error {
	for _, word := range ahead {
		name, text, ok := strings.Cut(word, "=")
		d, err := time.ParseDuration(text)
		if !ok || err != nil {
			return usage("--ahead %q is not HOST=DURATION, such as master-1=7s or master-1=-250ms", word)
		}
		at := slices.IndexFunc(hosts, func(h chronicle.Host) bool { return h.Name == name })
		if at < 0 {
			return usage("--ahead %q: there is no journal of host %s", word, name)
		}
		hosts[at].Ahead = d
	}
	return nil
}

// reportPage draws the last incidents, the newest first, above a table of everything that happened
// in them.
func reportPage(hosts []chronicle.Host, last int) (timeline.Page, error) {
	c := chronicle.Of(hosts...)
	var moved []chronicle.Incident
	for _, i := range c.Incidents {
		if i.Moved() {
			moved = append(moved, i)
		}
	}
	if len(moved) == 0 {
		return timeline.Page{}, negative(fmt.Errorf("no VIP has moved by the journals of %s: there is nothing to draw", strings.Join(c.Hosts, ", ")))
	}
	page := timeline.Page{
		Title: "VIPs as " + strings.Join(c.Hosts, ", ") + " saw them",
		Head:  []string{"UTC", "host", "VIP", "state", "priority", "why"},
	}
	shown := moved[max(0, len(moved)-last):]
	page.Note = fmt.Sprintf("%d of %d times at which a VIP moved. %s", len(shown), len(moved), clockWords(c, hosts))
	for _, i := range slices.Backward(shown) {
		pictures := map[string]string{} // titles, by instance
		for _, v := range i.MovedVIPs() {
			t := c.Timeline(i, v)
			pictures[v.Instance] = t.Title
			page.Timelines = append(page.Timelines, t)
		}
		for _, e := range i.Events {
			why := e.Why
			if e.Late {
				why += " (at that time or before)"
			}
			vip := e.Instance
			if e.VIP.IsValid() {
				vip = e.VIP.String()
			}
			page.Rows = append(page.Rows, timeline.TableRow{Picture: pictures[e.Instance], Cells: []string{
				e.At.UTC().Format("2006-01-02 15:04:05.000"), e.Host, vip, string(e.State), fmt.Sprint(e.Priority), why,
			}})
		}
	}
	return page, nil
}

// clockWords are what is known of the hosts' clocks.
func clockWords(c chronicle.Chronicle, hosts []chronicle.Host) string {
	var words []string
	for _, clock := range c.Clocks {
		words = append(words, clock.String())
	}
	text := "Times are those of the hosts' clocks"
	var taken []string
	for _, h := range hosts {
		if h.Ahead != 0 {
			taken = append(taken, fmt.Sprintf("%v of %s", h.Ahead, h.Name))
		}
	}
	if len(taken) > 0 {
		slices.Sort(taken)
		text += ", with --ahead taken out: " + strings.Join(taken, ", ")
	}
	if len(words) == 0 {
		return text + "; how far those are apart no hand-over between two of them tells."
	}
	return text + ": " + strings.Join(words, "; ") + "."
}
