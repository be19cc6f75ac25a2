// Package first is what the first processes of containers have in common, beside their daemons: how
// they start and end, install themselves, and answer the probes of their health.
package first

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

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// Program is a program that is the first process of a container.
type Program struct {
	Name, Usage string
	// Parse reads the command line. The function that it returns works until ctx ends.
	Parse func(args []string, log *slog.Logger) (work func(ctx context.Context) error, err error)
}

// Main is the program's main function. SIGTERM and SIGINT end it in order, and SIGHUP does nothing.
func (p Program) Main() {
	// It does one small task after another: idle threads would be most of what it costs.
	runtime.GOMAXPROCS(1)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// SIGHUP would end the program, which reads nothing anew. It is received and dropped, not
	// ignored: the daemon would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(p.Run(ctx, os.Args[1:], os.Stderr))
}

// Run returns the exit status: 0 after an end in order, 2 for wrong usage, 3 if the host keeps the
// program from working. With --install FILE it only copies itself.
func (p Program) Run(ctx context.Context, args []string, stderr io.Writer) int {
	if len(args) == 2 && args[0] == "--install" {
		return p.status(stderr, Install(args[1]))
	}
	work, err := p.Parse(args, slog.New(slog.NewTextHandler(stderr, nil)))
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, p.Usage)
		return 0
	} else if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n%s", p.Name, err, p.Usage)
		return 2
	}
	return p.status(stderr, work(ctx))
}

func (p Program) status(stderr io.Writer, err error) int {
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		return 3
	}
	return 0
}

// Install copies this program to a file, whole or not at all: it is not in the image of its daemon,
// so a container of another image puts it there.
func Install(path string) error {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("read this program: %w", err)
	}
	_, err = file.WriteIfChanged(path, self, 0o755)
	return err
}
