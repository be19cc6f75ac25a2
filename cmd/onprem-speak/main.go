// Command onprem-speak is the first process of FRR's container: it keeps FRR's daemons running,
// and has them announce to the host's routers the VIPs that the host serves.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"

	"github.com/onprem-infra/onprem-infra/shared/host/first"
	"github.com/onprem-infra/onprem-infra/shared/host/speak"
)

const usage = `usage: onprem-speak --run-dir DIR --sockets DIR [--passwords FILE] [--programs DIR]
         [--user NAME] [--health ADDRESS:PORT] [--real-time] [-- FLAG...]
       onprem-speak --install FILE

Keeps FRR's zebra, bgpd and bfdd running, which are in DIR of --programs (/usr/lib/frr), each with
the FLAGs. What they are to do is in files of the run directory: config.json, without the routers'
passwords, and wish.json, which counts for 10 s. status.json shows what they do.
The program that writes wish.json holds a lock of the file monitor (F_OFD_SETLK). While the file is
there and no process has locked it, as that program was killed, paths are longer than those of all
other hosts until there is another wish. One that ends in order removes the file.
FILE of --passwords has a line for each router: its address or the interface, a blank, the password.
A configuration is first tested by daemons in a network of their own. If they refuse it, the one
before goes on, and status.json has the command that they refuse. What the running daemons refuse
all the same is given to them again after a change, and after 2 s, 4 s and so on up to 5 minutes.
The daemons run as NAME (frr) of this root's /etc/passwd. Their own sockets are in DIR of --sockets,
which is made for that user alone if it is missing. Started as root, this program needs the
capabilities CHOWN, KILL, NET_ADMIN, NET_BIND_SERVICE, NET_RAW, SETGID, SETUID and SYS_ADMIN;
started as that user, those of NET_ and SYS_ADMIN.
If another program of the host receives BFD's packets, sessions are without BFD until this program
is started anew. status.json has the other one, by its name if this program may read that: it needs
the host's process namespace and the capability SYS_PTRACE.
With --health it serves its own health there over HTTP, and at /metrics its metrics. Use an address
of the loopback.
With --real-time bfdd is scheduled before all that are not real-time, where the kernel permits.
While the file leave exists in the run directory, and on SIGTERM, routers are led to other hosts,
routes are withdrawn, and the VIPs removed, in this order. It ends when that is done: onprem-infra
plan has the time as bgp-graceful. If it is killed, the kernel ends the daemons too, and the next
start removes VIPs that are left.

With --install it only copies itself to FILE.
`

func main() { program.Main() }

var program = first.Program{Name: "onprem-speak", Usage: usage, Parse: parse}

// parse reads the command line.
func parse(args []string, log *slog.Logger) (func(context.Context) error, error) {
	o, err := options(args)
	if err != nil {
		return nil, err
	}
	o.Log = log.With("room", "shared/host/speak")
	return func(ctx context.Context) error { return speak.Run(ctx, o) }, nil
}

func options(args []string) (o speak.Options, err error) {
	flags := flag.NewFlagSet("onprem-speak", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.Dir, "run-dir", "", "")
	flags.StringVar(&o.Sockets, "sockets", "", "")
	flags.StringVar(&o.Passwords, "passwords", "", "")
	flags.StringVar(&o.Programs, "programs", "/usr/lib/frr", "")
	flags.StringVar(&o.User, "user", "frr", "")
	flags.StringVar(&o.Health, "health", "", "")
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
