// Command onprem-speak is the first process of FRR's container: it keeps FRR's daemons running,
// and has them announce to the host's routers the VIPs that the host serves.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/host/speak"
)

const usage = `usage: onprem-speak --run-dir DIR --sockets DIR [--passwords FILE] [--programs DIR]
         [--real-time] [-- FLAG...]

Keeps FRR's zebra, bgpd and bfdd running, which are in DIR of --programs (/usr/lib/frr), each with
the FLAGs. What they are to do is in files of the run directory: config.json, without the routers'
passwords, and wish.json, which counts for 10 s. status.json shows what they do.
FILE of --passwords has a line for each router: its address or the interface, a blank, the password.
The daemons' own sockets are in DIR of --sockets, which their user must own.
With --real-time bfdd is scheduled before all that are not real-time, where the kernel permits.
While the file leave exists in the run directory, and on SIGTERM, routers are led to other hosts,
routes are withdrawn, and the VIPs removed, in this order. It ends within 5 s of SIGTERM.
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
	o, err := options(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usage)
		return 0
	} else if err != nil {
		fmt.Fprintf(stderr, "onprem-speak: %v\n%s", err, usage)
		return 2
	}
	o.Log = slog.New(slog.NewTextHandler(stderr, nil)).With("room", "shared/host/speak")
	if err := speak.Run(ctx, o); err != nil {
		fmt.Fprintf(stderr, "onprem-speak: %v\n", err)
		return 3
	}
	return 0
}

func options(args []string) (o speak.Options, err error) {
	flags := flag.NewFlagSet("onprem-speak", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.Dir, "run-dir", "", "")
	flags.StringVar(&o.Sockets, "sockets", "", "")
	flags.StringVar(&o.Passwords, "passwords", "", "")
	flags.StringVar(&o.Programs, "programs", "/usr/lib/frr", "")
	flags.BoolVar(&o.RealTime, "real-time", false, "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.Flags = flags.Args()
	switch {
	case o.Dir == "":
		return o, errors.New("--run-dir is missing")
	case o.Sockets == "":
		return o, errors.New("--sockets is missing")
	}
	return o, nil
}
