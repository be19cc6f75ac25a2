package chain

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"
)

// ironicUnit runs the FAKE Ironic in the machine, where the provisioning service of bare metal
// runs. It starts when a test starts it.
const ironicUnit = `[Unit]
Description=FAKE of Ironic
[Service]
ExecStart=/opt/fakeapi/fakeapi -ironic :6385
`

// Ironic makes the machine's provisioning service be up, hang or be down.
func (c *Chain) Ironic(ctx context.Context, mode string) error {
	verb := "start"
	if mode == "down" {
		verb = "stop"
	}
	if _, err := c.VM.Run(ctx, "systemctl", verb, "fakeironic.service"); err != nil || mode == "down" {
		return err
	}
	url := fmt.Sprintf("http://%s/fake/mode", netip.AddrPortFrom(BootstrapIP, 6385))
	return c.until(ctx, "Ironic", func() error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader(mode))
		if err != nil {
			return err
		}
		answer, err := c.Client(time.Second).Do(request)
		if err != nil {
			return err
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		return nil
	})
}

// ServeAPI gives a master an API server of its own, which is ready: the FAKE, with the certificate
// of the machine's. It serves until stop.
func (c *Chain) ServeAPI(ctx context.Context, m *Master) (stop func() error, err error) {
	for name, content := range map[string][]byte{"cert.pem": c.identity.cert, "key.pem": c.identity.key} {
		if err := os.WriteFile(c.file(name), content, 0o600); err != nil {
			return nil, err
		}
	}
	cmd := m.Command(context.WithoutCancel(ctx), c.file("fakeapi"),
		"-cert", c.file("cert.pem"), "-key", c.file("key.pem"), "-api", m.IP()+":6443", "-mcs", m.IP()+":22623")
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start an API server on %s: %w", m.Name, err)
	}
	stop = func() error {
		if err := cmd.Process.Kill(); err != nil {
			return err
		}
		_ = cmd.Wait() // it was killed
		return nil
	}
	err = c.until(ctx, "the API server of "+m.Name, func() error {
		conn, err := c.Neighbour.Dial(ctx, "tcp", m.IP()+":6443")
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// until calls f until it has no error, for ten seconds.
func (c *Chain) until(ctx context.Context, what string, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
