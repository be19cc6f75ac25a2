// Command serve runs a FAKE BMC whose machines a command switches on and off.
//
//	serve -listen 127.0.0.1:8000 -machines machines.json -power ./power
//
// The file has a list of machines, as fakebmc.Machine has them. The command is run with a machine's
// ID and "on", "off", "shutdown" or "status"; the last prints on or off. FAKEBMC_BOOT, FAKEBMC_MODE,
// FAKEBMC_MEDIA and FAKEBMC_HTTP have what the machine starts from. With -tls the certificate is
// that of a CA of its own, valid for the loopback.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8000", "address of the service")
	machines := flag.String("machines", "", "file with the machines; empty for a sample")
	power := flag.String("power", "", "command that switches a machine; empty for none")
	user := flag.String("user", "admin", "user name")
	password := flag.String("password", "password", "its password")
	vendor := flag.String("vendor", "FAKE", "vendor that the root names")
	quirks := flag.String("quirks", "{}", "faults, as JSON of fakebmc.Quirks")
	secure := flag.Bool("tls", false, "serve TLS")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	o := fakebmc.Options{User: *user, Password: *password, Vendor: *vendor, Product: "FAKE"}
	f := files{machines: *machines, power: *power, quirks: *quirks}
	if err := run(ctx, o, f, *listen, *secure); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

// files are what the FAKE is made of, beside its options.
type files struct{ machines, power, quirks string }

func run(
	ctx context.Context, o fakebmc.Options, f files, listen string, secure bool,
) error {
	o.Machines = []fakebmc.Machine{fakebmc.Sample(1)}
	if f.machines != "" {
		text, err := os.ReadFile(f.machines)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &o.Machines); err != nil {
			return fmt.Errorf("%s: %w", f.machines, err)
		}
	}
	var q fakebmc.Quirks
	if err := json.Unmarshal([]byte(f.quirks), &q); err != nil {
		return fmt.Errorf("quirks: %w", err)
	}
	if f.power != "" {
		o.Power = func(m fakebmc.Machine, c fakebmc.Change) error {
			_, err := command(ctx, f.power, m.ID, c)
			return err
		}
		o.IsOn = func(id string) (bool, error) {
			out, err := exec.CommandContext(ctx, f.power, id, "status").Output()
			return strings.TrimSpace(string(out)) == "on", err
		}
	}
	bmc := fakebmc.New(o)
	bmc.Set(q)
	server := &http.Server{Addr: listen, Handler: bmc}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	err := serve(server, secure)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func serve(server *http.Server, secure bool) error {
	if !secure {
		return server.ListenAndServe()
	}
	made, err := fakebmc.Certificate{}.Make()
	if err != nil {
		return err
	}
	fmt.Println("pin", made.Pin)
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{made.TLS}}
	return server.ListenAndServeTLS("", "")
}

// command runs the power command.
func command(ctx context.Context, power, id string, c fakebmc.Change) ([]byte, error) {
	state := "off"
	switch {
	case c.On:
		state = "on"
	case c.Graceful:
		state = "shutdown"
	}
	cmd := exec.CommandContext(ctx, power, id, state)
	cmd.Env = append(os.Environ(), "FAKEBMC_BOOT="+c.Boot, "FAKEBMC_MODE="+c.Mode,
		"FAKEBMC_MEDIA="+c.Media, "FAKEBMC_HTTP="+c.HTTP)
	cmd.Stderr = os.Stderr
	return cmd.Output()
}
