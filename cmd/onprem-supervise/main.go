// Command onprem-supervise is the first process of keepalived's container: it keeps keepalived
// running on a configuration that keepalived itself has tested, reports the VRRP states, and leaves
// no VIP behind.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/ordered"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise"
)

const usage = `usage: onprem-supervise --config FILE --run-dir DIR
         {--vip ADDRESS... | --cluster FILE} [--health ADDRESS:PORT]
         [--yield-on-term] [--patience DURATION] [--real-time] -- KEEPALIVED [FLAG]...
       onprem-supervise --order DIR -- DAEMON [FLAG]...
       onprem-supervise --install FILE

Keeps KEEPALIVED running in the foreground with FILE as its configuration. A configuration put into
DIR/candidate.json, or as text into DIR/candidate.conf, is tested first. DIR/status.json shows what
runs and the VRRP states.
While DIR/leave exists, the VIPs are released in order and not taken over again: as soon as another
router has taken over or must have, and if none is observed, not before DURATION is over.
The VIPs are those of --vip, which may be given more than once, or those of the cluster that FILE
describes (/etc/onprem-infra/cluster.json). If that cluster gets other VIPs, it ends in order, to be
started again.
With --health it serves its own health there over HTTP. VRRP states do not count: FAULT is a state
like any other.
On SIGTERM it releases the VIPs at once. With --yield-on-term it waits until another router has
taken over, for 4.2 s at most with the slowest timing.
With --real-time keepalived's VRRP process is scheduled before all that are not real-time, where
the kernel permits.

With --order it keeps any DAEMON running while a program beside it orders that by a file in DIR, and
writes there what runs.

With --install it only copies itself to FILE.
`

func main() {
	// It does one small task after another: idle threads would be most of what it costs.
	runtime.GOMAXPROCS(1)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stderr))
}

// run returns the exit status: 0 after an end in order, 2 for wrong usage, 3 if the host keeps it
// from working.
func run(ctx context.Context, args []string, stderr io.Writer) int {
	if len(args) == 2 && args[0] == "--install" {
		return status(stderr, install(args[1]))
	}
	if len(args) > 3 && args[0] == "--order" && args[2] == "--" {
		return status(stderr, follow(ctx, args[1], args[3:], stderr))
	}
	o, cluster, err := options(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usage)
		return 0
	} else if err != nil {
		fmt.Fprintf(stderr, "onprem-supervise: %v\n%s", err, usage)
		return 2
	}
	o.Log = slog.New(slog.NewTextHandler(stderr, nil)).With("room", "shared/host/supervise")
	if cluster != "" {
		if o.VIPs, err = clusterVIPs(cluster); err != nil {
			return status(stderr, err)
		}
		same, end := whileSame(ctx, cluster, o.VIPs, o.Log)
		defer end()
		ctx = same
	}
	return status(stderr, supervise.Run(ctx, o))
}

func status(stderr io.Writer, err error) int {
	if err != nil {
		fmt.Fprintf(stderr, "onprem-supervise: %v\n", err)
		return 3
	}
	return 0
}

// follow keeps a daemon running while it is ordered.
func follow(ctx context.Context, dir string, command []string, stderr io.Writer) error {
	p := ordered.Parent{Dir: dir, Command: command,
		Log: slog.New(slog.NewTextHandler(stderr, nil)).With("room", "shared/host/ordered")}
	return p.Run(ctx)
}

// install copies this program, whole or not at all: it is not in an image of keepalived, so a
// container of another image puts it there.
func install(path string) error {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("read this program: %w", err)
	}
	_, err = file.WriteIfChanged(path, self, 0o755)
	return err
}

// options are those of the command line, and the file that has the VIPs; empty if the command line
// has them.
func options(args []string) (o supervise.Options, cluster string, err error) {
	flags := flag.NewFlagSet("onprem-supervise", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.Config, "config", "", "")
	flags.StringVar(&o.RunDir, "run-dir", "", "")
	flags.StringVar(&o.Health, "health", "", "")
	flags.BoolVar(&o.YieldOnTerm, "yield-on-term", false, "")
	flags.BoolVar(&o.RealTime, "real-time", false, "")
	flags.DurationVar(&o.Patience, "patience", 0, "")
	flags.Func("vip", "", func(text string) error {
		vip, err := netip.ParseAddr(text)
		if err != nil {
			return err
		}
		o.VIPs = append(o.VIPs, vip)
		return nil
	})
	flags.StringVar(&cluster, "cluster", "", "")
	if err := flags.Parse(args); err != nil {
		return o, "", err
	}
	o.Command = flags.Args()
	switch {
	case o.Config == "":
		return o, "", errors.New("--config is missing")
	case o.RunDir == "":
		return o, "", errors.New("--run-dir is missing")
	case len(o.VIPs) == 0 && cluster == "":
		return o, "", errors.New("--vip or --cluster is missing")
	case len(o.Command) == 0:
		return o, "", errors.New("after --, the program to run is missing")
	}
	return o, cluster, nil
}
