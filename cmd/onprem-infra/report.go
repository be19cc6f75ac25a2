package main

import (
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
held which VIP, and why.

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
		hosts, err := readJournals(std, args)
		if err != nil {
			return err
		}
		if err := setClocks(hosts, r.ahead); err != nil {
			return err
		}
		page, err := chronicle.Page(hosts, r.last)
		if err != nil {
			return negative(err)
		}
		w.reads(journalFiles(args)...)
		if form == "text" {
			text := wrapped(page.Note) + "\n" + tabled(page.Head, page.Cells())
			return w.document([]byte(text), unmarked)
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
				return nil, usage(
					"there are two journals of host %s: name their hosts, as HOST=FILE", name)
			}
			j, err := journal.Decode(text)
			if err != nil {
				_ = printMessage(std.err, "%s: %v\n", name, err) // the rest holds
			}
			hosts = append(hosts, chronicle.Host{Name: name, Entries: j.Entries()})
		}
	}
	return hosts, nil
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
			return nil, fmt.Errorf("this host has no journal, %s: it has held no VIP yet, or is "+
				"not part of a cluster: name the journals of hosts that have one", path)
		}
		return nil, usage("there is no journal %s: a host keeps one at %s", path, journal.Path)
	}
	return text, err
}

// readTogether reads the journals on standard input.
func readTogether(std streams, name string) (map[string][]byte, error) {
	text, err := io.ReadAll(io.LimitReader(std.in, 16*inputLimit))
	if err != nil {
		return nil, unreadable(err)
	}
	texts, err := chronicle.Split(text, name)
	if err != nil {
		return nil, usage("%w", err)
	}
	return texts, nil
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
