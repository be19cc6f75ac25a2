package machine

import (
	"net/netip"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine/disk"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// Hosts are the machines of a document, each value with its place.
type Hosts struct {
	At            document.Place
	Given         bool
	InstallConfig bool
	Provisioned   bool // they have BMCs

	all []host
}

// host is one machine with its places.
type host struct {
	at                                  document.Place
	name, role, card, bootMode, profile document.Scalar[string]
	bmc                                 controller
	disk                                disk.Hints
	network                             state
	mac                                 mac.MAC // zero until it was checked
}

// controller is a BMC with its places.
type controller struct {
	at                 document.Place
	given              bool
	text               document.Scalar[string]
	address            bmc.Address
	username, password document.Scalar[secret.Text]
	credentials        document.Scalar[string]
	verify             document.Scalar[string]
}

// maxHosts is above what one Ironic provisions, so that rules about hosts stay cheap.
const maxHosts = 4000

// Read reads the machines of a baremetal section of an install-config, or of our own cluster.yaml,
// which is strict. Of an install-config in which no host has a BMC only names, roles and cards are
// read: its hosts are switched on by hand.
func Read(r *document.Reader, v document.Value, installConfig bool) Hosts {
	elements, _ := r.List(v)
	hosts := Hosts{At: v.At, Given: v.Node != nil, InstallConfig: installConfig}
	hosts.Provisioned = hosts.Given && !installConfig
	var maps []document.Map
	for _, e := range elements {
		if o := r.Map(e); o.Given {
			maps = append(maps, o)
			hosts.Provisioned = hosts.Provisioned || installConfig && o.Has("bmc") &&
				r.Field(o, "bmc").Given()
		}
	}
	if hosts.Provisioned && len(maps) > maxHosts {
		r.Errorf(maps[maxHosts].At, "is one host too many: list %d at most", maxHosts)
		maps = maps[:maxHosts]
	}
	states := map[*yaml.Node]*content{}
	for _, o := range maps {
		f := fieldsOf(r, o, installConfig)
		h := host{at: o.At, name: r.Text(f.get("name")), role: r.Text(f.get("role")),
			card: r.Text(f.get("bootMACAddress"))}
		if hosts.Provisioned {
			h.bootMode, h.profile = r.Text(f.get("bootMode")), r.Text(f.get("hardwareProfile"))
			h.bmc = f.controller(f.get("bmc"))
			h.disk = disk.Read(r, f.get("rootDeviceHints"), installConfig)
			h.network = f.state(f.get("networkConfig"), states)
		}
		hosts.all = append(hosts.all, h)
	}
	return hosts
}

// fields reads the fields of a map by the installer's names, whatever the document calls them.
type fields struct {
	*document.Reader
	o             document.Map
	installConfig bool
}

// own maps the installer's names of fields to those of a cluster.yaml, where they differ.
func own() map[string]string {
	return map[string]string{"bootMACAddress": "bootMAC", "rootDeviceHints": "rootDisk",
		"networkConfig": "network"}
}

func fieldsOf(r *document.Reader, o document.Map, installConfig bool) fields {
	if !installConfig {
		r.Known(o, "name", "role", "bmc", "bootMAC", "bootMode", "rootDisk", "network")
	}
	return fields{r, o, installConfig}
}

func (f fields) get(name string) document.Value {
	if f.installConfig {
		return f.Field(f.o, name)
	}
	if name == "hardwareProfile" { // which our own form has not
		return document.Value{}
	}
	if other := own()[name]; other != "" {
		name = other
	}
	return f.o.Get(name)
}

// controller reads how a host is switched on.
func (f fields) controller(v document.Value) controller {
	o := f.Map(v)
	c := controller{at: o.At, given: v.Given()}
	f.o = o
	c.text = f.Text(f.get("address"))
	if f.installConfig {
		c.username = grammar.Secret(f.Reader, f.get("username"))
		c.password = grammar.Secret(f.Reader, f.get("password"))
		off := grammar.Bool(f.Reader, f.get("disableCertificateVerification"))
		if off.OK && off.Value {
			c.verify = document.Given(VerifyOff, off.At)
		}
		return c
	}
	f.Known(o, "address", "credentials", "verify")
	credentials := f.Map(o.Get("credentials"))
	f.Known(credentials, "file")
	c.credentials, c.verify = f.Text(credentials.Get("file")), f.Text(o.Get("verify"))
	if credentials.Given && !c.credentials.Given {
		f.Errorf(c.credentials.At, "is missing: write the path of a file with username and "+
			"password")
	}
	return c
}

// Values are the machines without their places.
func (h Hosts) Values() (hosts []Host) {
	for _, m := range h.all {
		hosts = append(hosts, Host{
			Name: m.name.Value, Role: m.role.Value, BootMACAddress: m.card.Value,
			BootMode: m.bootMode.Value, HardwareProfile: m.profile.Value,
			RootDisk: m.disk.Values(),
			BMC: BMC{Address: m.bmc.address, Username: m.bmc.username.Value,
				Password: m.bmc.password.Value, Credentials: m.bmc.credentials.Value,
				CredentialsAt: m.bmc.credentials.At, Verify: m.bmc.verify.Value},
		})
		last := &hosts[len(hosts)-1]
		if m.bmc.text.Value != "" {
			last.BMC.AddressAt = m.bmc.text.At
		}
		if m.bmc.verify.Value != "" {
			last.BMC.VerifyAt = m.bmc.verify.At
		}
		if m.bootMode.Value != "" {
			last.BootModeAt = m.bootMode.At
		}
		if m.network.content != nil {
			last.Network = m.network.text
		}
	}
	return hosts
}

// Card is the card that a host boots from, and Controller the IP address of a BMC.
type (
	Card struct {
		MAC mac.MAC
		At  document.Place
	}
	Controller struct {
		IP netip.Addr
		At document.Place
	}
)

// Cards are the cards that hosts boot from, as far as they are right, after Check.
func (h Hosts) Cards() (cards []Card) {
	for _, m := range h.all {
		if m.mac.IsCard() {
			cards = append(cards, Card{m.mac, m.card.At})
		}
	}
	return cards
}

// Controllers are the BMCs that are known by an IP address, after Check.
func (h Hosts) Controllers() (all []Controller) {
	for _, m := range h.all {
		if ip := m.bmc.address.IP(); ip.IsValid() {
			all = append(all, Controller{ip, m.bmc.text.At})
		}
	}
	return all
}
