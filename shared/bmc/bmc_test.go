package bmc_test

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
)

// TestParse_Drivers holds the table of metal3's drivers: what each needs and can do.
func TestParse_Drivers(t *testing.T) {
	pxe := bmc.Abilities{NeedsNetwork: true}
	secure := bmc.Abilities{NeedsNetwork: true, SecureBoot: true}
	media := bmc.Abilities{SecureBoot: true, VirtualMedia: true}
	for scheme, want := range map[string]bmc.Address{
		"ipmi":                      {Driver: "ipmi", Protocol: bmc.IPMI, Port: 623, Abilities: pxe},
		"libvirt":                   {Driver: "libvirt", Protocol: bmc.IPMI, Port: 623, Abilities: pxe},
		"redfish":                   {Driver: "redfish", Protocol: bmc.Redfish, Port: 443, Abilities: secure},
		"redfish+https":             {Driver: "redfish", Protocol: bmc.Redfish, Port: 443, Abilities: secure},
		"redfish+http":              {Driver: "redfish", Protocol: bmc.Redfish, Plain: true, Port: 80, Abilities: secure},
		"ilo5-redfish":              {Driver: "ilo5-redfish", Protocol: bmc.Redfish, Port: 443, Abilities: secure},
		"idrac-redfish":             {Driver: "idrac-redfish", Protocol: bmc.Redfish, Port: 443, Abilities: secure},
		"redfish-virtualmedia":      {Driver: "redfish-virtualmedia", Protocol: bmc.Redfish, Port: 443, Abilities: media},
		"redfish-virtualmedia+http": {Driver: "redfish-virtualmedia", Protocol: bmc.Redfish, Plain: true, Port: 80, Abilities: media},
		"ilo5-virtualmedia":         {Driver: "ilo5-virtualmedia", Protocol: bmc.Redfish, Port: 443, Abilities: media},
		"idrac-virtualmedia":        {Driver: "idrac-virtualmedia", Protocol: bmc.Redfish, Port: 443, Abilities: media},
		"redfish-uefihttp":          {Driver: "redfish-uefihttp", Protocol: bmc.Redfish, Port: 443, Abilities: bmc.Abilities{SecureBoot: true, UEFIHTTP: true}},
	} {
		for _, scheme := range []string{scheme, strings.ToUpper(scheme)} {
			got, err := bmc.Parse(scheme + "://BMC1.example.com")
			if want.Host = "bmc1.example.com"; err != nil || got != want {
				t.Errorf("%s: %+v, %v\nwant %+v", scheme, got, err, want)
			}
		}
	}
	if got := strings.Join(bmc.Without(), " "); got != "redfish-virtualmedia idrac-virtualmedia ilo5-virtualmedia" {
		t.Errorf("without a provisioning network: %s", got)
	}
}

// TestParse_Twins holds that the spellings of one system have one identity, and two systems two.
func TestParse_Twins(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"redfish://h/x", "redfish+https://h/x", true},
		{"redfish://h/x", "redfish://H:443/x/", true},
		{"redfish://h/x", "redfish-virtualmedia://h//x", true},
		{"redfish://h", "redfish://h/redfish/v1/", true},
		{"redfish+http://h/x", "redfish+http://h:80/x", true},
		{"redfish://[2001:DB8:0::1]/x", "redfish://[2001:db8::1]/x", true},
		{"redfish://[::ffff:192.0.2.1]/x", "redfish://192.0.2.1/x", true},
		{"ipmi://192.0.2.1", "192.0.2.1", true},
		{"ipmi://192.0.2.1", "libvirt://192.0.2.1:623/", true},
		{"ipmi://2001:db8::1", "[2001:db8::1]", false}, // the first one is refused
		{"2001:db8::1", "ipmi://[2001:db8::1]", true},
		{"ipmi://192.0.2.1", "ipmi://192.0.2.1?privilegelevel=OPERATOR", true},
		{"redfish://h/x", "redfish://h/X", false},
		{"redfish://h/x", "redfish://h:8443/x", false},
		{"redfish://h/x", "redfish+http://h/x", false},
		{"ipmi://192.0.2.1", "ipmi://192.0.2.2", false},
	} {
		a, errA := bmc.Parse(tt.a)
		b, errB := bmc.Parse(tt.b)
		if got := errA == nil && errB == nil && a.Identity() == b.Identity(); got != tt.same {
			t.Errorf("%s (%v) and %s (%v) are one system: %v, want %v", a, errA, b, errB, got, tt.same)
		}
	}
}

func TestParse_Privilege(t *testing.T) {
	for text, want := range map[string]string{"ipmi://h": "", "ipmi://h?privilegelevel=ADMINISTRATOR": "", "ipmi://h?privilegelevel=USER": "USER"} {
		if a, err := bmc.Parse(text); err != nil || a.Privilege != want {
			t.Errorf("%s asks for the privilege %q, %v", text, a.Privilege, err)
		}
	}
}

const secret = "s3cret"

func TestParse_Refuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "is empty: write one such as redfish-virtualmedia://HOST/PATH",
		"bmc1/redfish/v1/Systems/1":           "has no scheme, so it would be spoken to by IPMI: write redfish://..., or ipmi:// if you mean it",
		"bmc1:443/redfish/v1/Systems/1":       "has no scheme, so it would be spoken to by IPMI: write redfish://..., or ipmi:// if you mean it",
		"bmc1.example.com:623":                "has no scheme: write ipmi:// before it, or redfish:// with the path of the system",
		"ilo4://h":                            "has the scheme ilo4://, which metal3 0.12 removed: use redfish-virtualmedia://",
		"ilo5://h":                            "has the scheme ilo5://, which metal3 0.12 removed: use redfish-virtualmedia://",
		"ilo4-virtualmedia+https://h":         "has the scheme ilo4-virtualmedia://, which metal3 0.12 removed: use redfish-virtualmedia://",
		"irmc://h":                            "has the scheme irmc://, which metal3 0.13 removed: use redfish://",
		"IDRAC+https://h":                     "has the scheme idrac://, which metal3 0.6 removed: use idrac-virtualmedia://",
		"ibmc://h":                            "has the scheme ibmc://, which metal3 0.6 removed: use redfish://",
		"https://h/redfish/v1/Systems/1":      "names no driver: write redfish-virtualmedia+https://..., or redfish+https://... to boot by PXE",
		"redfsh://h":                          "has a scheme that metal3 does not know: write redfish:// where that is meant",
		"redfish_virtualmedia://h":            "has a scheme that metal3 does not know: write redfish-virtualmedia:// where that is meant",
		"amt://h":                             "has a scheme that metal3 does not know: use one of redfish, redfish-virtualmedia, redfish-uefihttp, idrac-redfish, idrac-virtualmedia, ilo5-redfish, ilo5-virtualmedia, ipmi, libvirt",
		"redfish+tls://h":                     "has a transport that is not known: write redfish+https:// or redfish+http://",
		"redfish+://h":                        "has a transport that is not known: write redfish+https:// or redfish+http://",
		"ipmi+https://h":                      "has a scheme with a +, which IPMI has not: write ipmi://",
		"redfish://":                          "names no host: write a DNS name or an IP address after ://, IPv6 in brackets",
		"redfish:///redfish/v1/Systems/1":     "names no host: write a DNS name or an IP address after ://, IPv6 in brackets",
		"redfish://a_b/x":                     "names no host: write a DNS name or an IP address after ://, IPv6 in brackets",
		"redfish://2001:db8::1/x":             "names no host: write a DNS name or an IP address after ://, IPv6 in brackets",
		"redfish://[fe80::1%25eth0]/x":        "names no host: write a DNS name or an IP address after ://, IPv6 in brackets",
		"redfish://h:0/x":                     "has no port from 1 to 65535 after its colon: write a number, or remove the colon",
		"redfish://h:65536/x":                 "has no port from 1 to 65535 after its colon: write a number, or remove the colon",
		"redfish://admin:" + secret + "@h/x":  "has a user name in it: write user name and password into fields of their own, and remove them here",
		"redfish://h/x?" + secret:             "has a ? or # in it, which no driver reads: remove it with what follows",
		"redfish://h/x#" + secret:             "has a ? or # in it, which no driver reads: remove it with what follows",
		"ipmi://h/redfish/v1/Systems/1":       "has a path, and IPMI has none: remove it, or write redfish://... if that is meant",
		"ipmi://h?privilegelevel=" + secret:   "has a query that IPMI does not know: write ?privilegelevel= with one of ADMINISTRATOR, OPERATOR, USER, CALLBACK, or remove it",
		"redfish://h/redfish/v1/Managers/BMC": "has the path of a manager: write that of the system, such as /redfish/v1/Systems/1",
		"redfish://h/ x":                      "has a blank or a control character in it: remove it",
		"redfish://h/x\n":                     "has a blank or a control character in it: remove it",
	} {
		a, err := bmc.Parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("%q: %+v, %v\nwant %s", text, a, err, want)
		}
	}
}

// FuzzParse holds for any text: no panic, an error that repeats nothing and has what to do, or an
// address whose only form reads as the same address.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"redfish://h/x", "ipmi://[2001:db8::1]:623?privilegelevel=USER", "192.0.2.1", "a:b", "::", "[::1]",
		"redfish-uefihttp+http://h:8000/redfish/v1/Systems/%2f%20a/", "redfish://user:pw@h", "ilo4://h", "REDFISH+HTTPS://H"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := bmc.Parse(text)
		if err != nil {
			if len(text) > 12 && strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), ": ") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := bmc.Parse(a.String())
		if err != nil || again != a || again.String() != a.String() {
			t.Errorf("%q is %s (%+v), then %s (%+v), %v", text, a, a, again, again, err)
		}
		if a.Host == "" || a.Port == 0 || strings.ContainsAny(a.String(), " \t\n\"\\") && !strings.ContainsAny(text, "\"\\") {
			t.Errorf("%q is %+v", text, a)
		}
	})
}
