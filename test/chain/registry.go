package chain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/fakeline"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/registry"
)

// registryIP is the address of the host with the registry.
var registryIP = netip.MustParseAddr("192.0.2.3")

// Registry is a host on the switch with a real container registry, behind a line that can be made
// bad. It has the machine's images; the machine has none.
type Registry struct {
	*registry.Registry
	host  *lab.Host
	line  *fakeline.Line // nil while it is down
	names map[string]string
}

// RegistryAddress is where the machine finds the registry: the line's end.
var RegistryAddress = netip.AddrPortFrom(registryIP, 5000).String()

// Supply takes the images out of the machine's storage into a registry that is up: keepalived's is
// named by its digest there, CoreDNS's by a tag, ours by the tag that is everybody's. It comes
// after Images and before Compile.
func (c *Chain) Supply(ctx context.Context) (*Registry, error) {
	host, err := c.lab.Add("registry", prefix(registryIP))
	if err != nil {
		return nil, err
	}
	dir := c.file("registry")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r := &Registry{host: host, names: map[string]string{}, Registry: &registry.Registry{
		Address: netip.AddrPortFrom(registryIP, 5001), Dir: dir, Cert: c.identity.cert, Key: c.identity.key,
		Command: host.Command, Dial: host.Dial,
	}}
	c.registry = r
	if err := r.Up(ctx); err != nil {
		return nil, err
	}
	for image, as := range map[string]string{keepalivedImage: "/keepalived:chain", corednsImage: "/coredns:chain", ownImage: "/onprem-infra:latest"} {
		as = RegistryAddress + as
		digest, err := c.Machine.Push(ctx, host, c.identity.ca, image, as)
		if err != nil {
			return nil, err
		}
		if r.names[image] = as; image == keepalivedImage {
			r.names[image] = strings.TrimSuffix(as, ":chain") + "@" + digest
		}
	}
	return r, c.Machine.Write("/etc/containers/certs.d/"+RegistryAddress+"/ca.crt", c.identity.ca, 0o644)
}

// image is the name by which the machine knows one of the images.
func (c *Chain) image(name string) string {
	if c.registry == nil {
		return name
	}
	return c.registry.names[name]
}

// Up brings the registry up, behind a good line. Only Login decides which clients it admits.
func (r *Registry) Up(ctx context.Context) error {
	if err := r.Start(ctx); err != nil {
		return err
	}
	if r.line != nil {
		return nil
	}
	listener, err := r.host.Listen(RegistryAddress)
	if err != nil {
		return err
	}
	r.line = fakeline.Serve(listener, func(ctx context.Context) (net.Conn, error) { return r.Dial(ctx, "tcp", r.Address.String()) })
	return nil
}

// Down takes the registry down: no server listens at its address.
func (r *Registry) Down() error {
	err := r.Stop()
	if r.line != nil {
		err = errors.Join(err, r.line.Close())
		r.line = nil
	}
	return err
}

// Line makes the line bad or good again, for connections that are open too. The registry must be
// up.
func (r *Registry) Line(fault fakeline.Fault) { r.line.Set(fault) }

// Credentials gives the running machine a file of registry credentials with a password; "" takes
// the file away.
func (c *Chain) Credentials(ctx context.Context, password string) error {
	const file = "/root/.docker/config.json"
	if password == "" {
		_, err := c.VM.Run(ctx, "rm", "--force", file)
		return err
	}
	cmd := c.VM.Command(ctx, "sh", "-euc", "umask 077; mkdir -p /root/.docker; cat >"+file+".new; mv "+file+".new "+file)
	cmd.Stdin = strings.NewReader(string(registry.Credentials(RegistryAddress, password)))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("write the machine's registry credentials: %w: %s", err, out)
	}
	return nil
}

// KeepalivedImage is keepalived's image as the machine knows it.
func (c *Chain) KeepalivedImage() string { return c.image(keepalivedImage) }

// Add has the registry serve an image of registry.MakeImage too, and returns its name by its digest.
func (r *Registry) Add(name, dir string) (string, error) {
	digest, err := r.Registry.Add(name, dir)
	return RegistryAddress + "/" + name + "@" + digest, err
}

// OwnImage is the image with our programs as the machine knows it.
func (c *Chain) OwnImage() string { return c.image(ownImage) }
