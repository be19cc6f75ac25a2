package machine

import (
	"regexp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
)

// Around is what the rules about hosts depend on.
type Around struct {
	Counts    Counts
	Sized     bool   // the number of control plane nodes is known
	NoNetwork bool   // there is no provisioning network
	IPv6      bool   // the provisioning network is one of IPv6
	Interface string // of the provisioning network on hosts, empty if it is not known
	Fenced    bool   // two control plane nodes fence each other
}

// Check holds hosts to the rules. It also parses what Values and the other methods return.
func (h *Hosts) Check(r *document.Report, around Around) {
	seen := taken{names: map[string]document.Place{}, macs: map[mac.MAC]document.Place{},
		systems: map[bmc.Identity]host{}}
	for i := range h.all {
		m := &h.all[i]
		if m.role.Value != "" {
			r.OneOf(m.role, Master, Worker, Arbiter)
		}
		if m.name.OK {
			r.Refuse(m.name, name.NoHost(m.name.Value))
			once(r, seen.names, m.name.Value, m.name)
		}
		if m.card.OK {
			parsed, err := mac.ParseCard(m.card.Value)
			if m.mac = parsed; err != nil {
				r.Refuse(m.card, err.Error())
			} else {
				once(r, seen.macs, parsed, m.card)
			}
		}
		if h.Provisioned {
			m.checkName(r)
			m.required(r, h.InstallConfig)
			m.checkBMC(r, seen.systems, h.InstallConfig)
			m.checkBoot(r, around)
			m.disk.Check(r)
			m.network.check(r, m.mac, around.Interface)
		}
	}
	if h.Provisioned {
		h.checkRoles(r, around)
	}
}

// taken is what one host has and another cannot have, too.
type taken struct {
	names   map[string]document.Place
	macs    map[mac.MAC]document.Place
	systems map[bmc.Identity]host
}

// once reports a value that an earlier host has too.
func once[K comparable](r *document.Report, seen map[K]document.Place, key K,
	s document.Scalar[string]) {
	if first, twice := seen[key]; twice {
		r.Errorf(s.At, "%s is another host's too, %s: give each host its own",
			document.Quote(s.Value), first.Where())
		return
	}
	seen[key] = s.At
}

var uuid = regexp.MustCompile(`^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// checkName reports a name that metal3's webhook refuses: Ironic finds nodes by UUID or by name.
func (m host) checkName(r *document.Report) {
	if uuid.MatchString(m.name.Value) {
		r.Refuse(m.name, "is a UUID, which metal3 takes for no host's name: choose another name, "+
			"such as master-0")
	}
}

// required reports what a host cannot be provisioned without.
func (m host) required(r *document.Report, installConfig bool) {
	missing := func(given bool, at document.Place, write string) {
		if !given {
			r.Errorf(at, "is missing: write %s", write)
		}
	}
	missing(m.name.Given, m.name.At, "the name of the host")
	missing(m.card.Given, m.card.At, "the MAC address of the card that boots")
	if !m.bmc.given {
		r.Errorf(m.at, "has no bmc, by which it is switched on: write its address")
		return
	}
	missing(m.bmc.text.Given, m.bmc.text.At,
		"the address of the BMC, such as redfish-virtualmedia://HOST/PATH")
	if !installConfig {
		return
	}
	for _, s := range []struct {
		document.Scalar[secret.Text]
		what string
	}{{m.bmc.username, "the user name of the BMC"}, {m.bmc.password, "the password of the BMC"}} {
		missing(s.Given, s.At, s.what)
		if s.OK && s.Value.Empty() {
			r.Errorf(s.At, "is empty: write %s", s.what)
		}
	}
}

// checkBMC parses the address of a BMC. It is not repeated, as a password may stand in it.
func (m *host) checkBMC(r *document.Report, systems map[bmc.Identity]host, installConfig bool) {
	c := &m.bmc
	if c.text.OK {
		address, err := bmc.Parse(c.text.Value)
		if c.address = address; err != nil {
			r.Errorf(c.text.At, "%v", err)
		} else if first, twice := systems[address.Identity()]; twice {
			r.Errorf(c.text.At, "is the BMC of the host %s too, %s: give each host its own",
				document.Quote(first.name.Value), first.bmc.text.At.Where())
		} else {
			systems[address.Identity()] = *m
		}
		if address.Plain {
			r.Warnf(c.text.At, "the password goes to this BMC without TLS: write the scheme "+
				"without +http if the BMC has it")
		}
	}
	if s := c.verify; s.OK && !installConfig {
		pin, pinned := strings.CutPrefix(s.Value, VerifyPin)
		if s.Value != VerifyCA && s.Value != VerifyOff && (!pinned || !isSHA256(pin)) {
			r.Errorf(s.At, "is no way to verify a certificate: write ca, off, or pin: and the "+
				"SHA-256 of the certificate in 64 hexadecimal digits")
		}
	}
}

func isSHA256(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
