package bmc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/near"
)

// Drivers that are named here.
const (
	uefiHTTP     = "redfish-uefihttp"
	virtualMedia = "redfish-virtualmedia"
)

// drivers are the schemes of metal3 today. Those of Redfish may have +http or +https.
func drivers() []string {
	return []string{"redfish", virtualMedia, uefiHTTP, "idrac-redfish", "idrac-virtualmedia",
		"ilo5-redfish", "ilo5-virtualmedia", "ipmi", "libvirt"}
}

// Without lists the drivers of today by which every cluster installs hosts without a provisioning
// network. UEFI HTTP is not among them: it needs a DHCP server that names the program, or an Ironic
// whose certificate the firmware knows.
func Without() (names []string) {
	for _, driver := range drivers() {
		if a, err := Parse(driver + "://bmc"); err == nil && a.VirtualMedia {
			names = append(names, driver)
		}
	}
	return names
}

// removed are schemes that metal3 had, with the release that ended them and what to write today.
var removed = map[string][2]string{
	"ibmc":              {"0.6", "redfish://"},
	"idrac":             {"0.6", "idrac-virtualmedia://"},
	"ilo4":              {"0.12", "redfish-virtualmedia://"},
	"ilo4-virtualmedia": {"0.12", "redfish-virtualmedia://"},
	"ilo5":              {"0.12", "redfish-virtualmedia://"},
	"irmc":              {"0.13", "redfish://"},
}

var (
	errEmpty = errors.New("is empty: write one such as redfish-virtualmedia://HOST/PATH")
	errText  = errors.New("has a blank or a control character in it: remove it")
	errPath  = errors.New("has no scheme, so it would be spoken to by IPMI: write redfish://..., " +
		"or ipmi:// if you mean it")
	errPort = errors.New("has no scheme: write ipmi:// before it, or redfish:// with the path of " +
		"the system")
	errWeb = errors.New("names no driver: write redfish-virtualmedia+https://..., or redfish+" +
		"https://... to boot by PXE")
)

// checkText refuses texts that no URL can be.
func checkText(text string) error {
	switch {
	case text == "":
		return errEmpty
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return errText
	}
	return nil
}

// schemeOf splits an address into its scheme, in lower case, and the rest. A lone host means IPMI,
// as in metal3.
func schemeOf(text string) (scheme, rest string, err error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if ok && !strings.ContainsAny(scheme, "/?#@[") {
		scheme = strings.ToLower(scheme)
		return scheme, rest, checkScheme(scheme)
	}
	host, _, path := strings.Cut(text, "/")
	switch {
	case path || ok:
		return "", "", errPath
	case strings.Count(host, ":") == 1:
		return "", "", errPort
	case strings.Contains(host, ":") && !strings.HasPrefix(host, "["):
		text = "[" + text + "]"
	}
	return "ipmi", text, nil
}

func checkScheme(scheme string) error {
	driver, transport, with := strings.Cut(scheme, "+")
	if r, was := removed[driver]; was {
		return fmt.Errorf("has the scheme %s://, which metal3 %s removed: use %s", driver, r[0],
			r[1])
	}
	ipmi := driver == "ipmi" || driver == "libvirt"
	switch {
	case driver == "http" || driver == "https":
		return errWeb
	case !slices.Contains(drivers(), driver):
		return unknownScheme(driver)
	case with && ipmi:
		return fmt.Errorf("has a scheme with a +, which IPMI has not: write %s://", driver)
	case with && transport != "http" && transport != "https":
		return fmt.Errorf("has a transport that is not known: write %[1]s+https:// or "+
			"%[1]s+http://", driver)
	}
	return nil
}

func unknownScheme(scheme string) error {
	if meant := near.Word(scheme, drivers()); meant != "" {
		return fmt.Errorf("has a scheme that metal3 does not know: write %s:// where that is "+
			"meant", meant)
	}
	return fmt.Errorf("has a scheme that metal3 does not know: use one of %s",
		strings.Join(drivers(), ", "))
}
