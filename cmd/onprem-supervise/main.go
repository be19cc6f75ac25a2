// Command onprem-supervise is the first process of keepalived's container: it keeps keepalived
// running on a configuration that keepalived itself has tested, reports the VRRP states, and leaves
// no VIP behind.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/host/first"
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

func main() { program.Main() }

var program = first.Program{Name: "onprem-supervise", Usage: usage, Parse: parse}

// parse reads the command line.
func parse(args []string, log *slog.Logger) (func(context.Context) error, error) {
	if len(args) > 3 && args[0] == "--order" && args[2] == "--" {
		p := ordered.Parent{Dir: args[1], Command: args[3:],
			Log: log.With("room", "shared/host/ordered")}
		return p.Run, nil
	}
	o, cluster, err := options(args)
	if err != nil {
		return nil, err
	}
	o.Log = log.With("room", "shared/host/supervise")
	return func(ctx context.Context) error {
		if cluster == "" {
			return supervise.Run(ctx, o)
		}
		var err error
		if o.VIPs, err = clusterVIPs(cluster); err != nil {
			return err
		}
		same, end := whileSame(ctx, cluster, o.VIPs, o.Log)
		defer end()
		return supervise.Run(same, o)
	}, nil
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
