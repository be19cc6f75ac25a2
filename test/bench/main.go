// Command bench measures what each failure costs the clients of a cluster, under several timing
// profiles in one run: real daemons from the files that we render, real API servers, and clients
// that open a connection every 10 ms. It prints a table and writes one JSON object a line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// options are what the command line specifies.
type options struct {
	profiles []string
	routed   bool // measure clusters that announce their VIPs to routers
	runs     int
	only     *regexp.Regexp
	file     string
	html     string
	steady   time.Duration
	load     time.Duration
	forks    time.Duration
	nodes    []int
	installs int
	hosts    int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if err := bench(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// parse reads the command line.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	profiles := flags.String("profile", "lan,compat", "timing profiles, side by side: fast, lan, vm, compat; and bgp, for VIPs that are announced to routers")
	only := flags.String("run", ".", "regular expression of what is measured: "+strings.Join(names(), ", "))
	nodes := flags.String("nodes", "3,500,5000", "numbers of Node objects for scale")
	flags.IntVar(&o.runs, "n", 10, "repetitions of each scenario, and of the installation, which has 5 without this flag")
	flags.IntVar(&o.hosts, "hosts", 3, "how many bare machines the installation installs at once")
	flags.StringVar(&o.file, "o", "bin/bench.jsonl", "file that gets a JSON object a line, each as soon as it is known")
	flags.StringVar(&o.html, "html", "bin/bench.html", "file that gets the table of the scenarios, and a picture of the worst repetition of each")
	flags.DurationVar(&o.steady, "steady", time.Minute, "how long nothing happens in the scenario steady")
	flags.DurationVar(&o.load, "load", 10*time.Minute, "how long there are 3 busy loops per core in the scenario load")
	flags.DurationVar(&o.forks, "forks", 90*time.Second, "how long there are 16 forking loops in the scenario load")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.installs = 5
	flags.Visit(func(f *flag.Flag) {
		if f.Name == "n" {
			o.installs = o.runs
		}
	})
	if o.only, err = regexp.Compile("^(?:" + *only + ")$"); err != nil || *only == "." {
		o.only, err = regexp.Compile(*only)
	}
	if err != nil {
		return o, fmt.Errorf("-run: %w", err)
	}
	if !slices.ContainsFunc(names(), o.only.MatchString) {
		return o, fmt.Errorf("-run %s: there is none of that name: %s", *only, strings.Join(names(), ", "))
	}
	for name := range strings.SplitSeq(*profiles, ",") {
		if name == routed {
			o.routed = true
			continue
		}
		if _, ok := vrrp.TimingOf(name); !ok {
			return o, fmt.Errorf("-profile: there is no profile %q", name)
		}
		o.profiles = append(o.profiles, name)
	}
	for text := range strings.SplitSeq(*nodes, ",") {
		var n int
		if _, err := fmt.Sscanf(text, "%d", &n); err != nil || n < 3 {
			return o, fmt.Errorf("-nodes: %q is no number of Nodes, 3 at least", text)
		}
		o.nodes = append(o.nodes, n)
	}
	if o.runs < 1 || o.hosts < 1 || flags.NArg() > 0 {
		return o, fmt.Errorf("one repetition and one bare machine at least, and no arguments: %v", flags.Args())
	}
	return o, nil
}

// bench measures what was asked for, and prints the table of it also when it cannot go on.
func bench(ctx context.Context, o options) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("needs root, for network namespaces and containers")
	}
	if len(o.profiles) > 0 {
		if err := kubeapi.Programs(ctx); err != nil {
			return err
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(o.file), 0o755), os.MkdirAll(filepath.Dir(o.html), 0o755)); err != nil {
		return err
	}
	file, err := os.Create(o.file)
	if err != nil {
		return err
	}
	begin := time.Now()
	b := &run{options: o, out: file}
	err = b.all(ctx)
	fmt.Println()
	b.print(os.Stdout)
	err = errors.Join(err, file.Close(), b.draw(o.html))
	fmt.Printf("\n%s altogether; the figures are in %s", time.Since(begin).Round(time.Second), o.file)
	if len(b.pictures) > 0 {
		fmt.Printf(", the pictures in %s", o.html)
	}
	fmt.Println()
	return err
}
