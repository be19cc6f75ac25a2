// Command soak has a whole cluster work for hours: clients and watches come to its VIP, faults
// happen now and then by a seed, Nodes are relabelled, and certificates are rotated. At the end
// nothing may have grown, and no VIP may have moved without a reason. It writes one JSON object a
// line, and a picture of it all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// options are what the command line specifies.
type options struct {
	timing string
	length time.Duration
	seed   uint64
	every  time.Duration // between the beginnings of two schedules
	file   string
	html   string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	}
	if err := soak(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// parse reads the command line.
func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.StringVar(&o.timing, "timing", vrrp.ProfileLan, "timing profile")
	flags.DurationVar(&o.length, "for", 2*time.Hour, "how long")
	flags.Uint64Var(&o.seed, "seed", 1, "of the first schedule of faults; each later one has the next")
	flags.DurationVar(&o.every, "every", time.Minute, "between the beginnings of two schedules")
	flags.StringVar(&o.file, "o", "bin/soak.jsonl", "file that gets a JSON object a line, each as soon as it is known")
	flags.StringVar(&o.html, "html", "bin/soak.html", "file that gets the picture")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if _, ok := vrrp.TimingOf(o.timing); !ok || o.length <= 0 || o.every <= 0 || flags.NArg() > 0 {
		return o, fmt.Errorf("a timing profile that exists, times longer than nothing, and no arguments: %v", args)
	}
	return o, nil
}

// soak runs it, and prints what it found also when it cannot go on.
func soak(ctx context.Context, o options) (err error) {
	if os.Geteuid() != 0 {
		return errors.New("needs root, for network namespaces and containers")
	}
	if err := kubeapi.Programs(ctx); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(o.file), 0o755), os.MkdirAll(filepath.Dir(o.html), 0o755)); err != nil {
		return err
	}
	out, err := os.Create(o.file)
	if err != nil {
		return err
	}
	r := &run{options: o, out: out, begin: time.Now()}
	err = r.all(ctx)
	found := r.findings()
	r.print(os.Stdout, found)
	err = errors.Join(err, out.Close(), r.draw(o.html, found))
	fmt.Printf("\n%s altogether; the samples are in %s, the picture in %s\n", time.Since(r.begin).Round(time.Second), o.file, o.html)
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("%d findings", len(found))
	}
	return err
}
