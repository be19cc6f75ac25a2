// Package remedy has what to do about errors that Ironic reports of a BMC, by their words.
//
// source: TestLongQuirks of test/ironic has the real Ironic (29) report each of them.
package remedy

import "strings"

// known are the errors, the more special ones first.
var known = []struct{ words, do string }{
	{"certificate has expired", "renew the BMC's certificate"},
	{"CERTIFICATE_VERIFY_FAILED", "have bmcCA name the CA of the BMC's certificate, which must " +
		"have the BMC's address"},
	{"SessionLimitExceeded", "log other users out of the BMC"},
	{"returned code 503", "the BMC starts, or is busy: restart it if that lasts"},
	{"returned code 409", "none: the BMC was busy with the request before, and is asked again"},
	{"returned code 401", "correct the account of the BMC"},
	{"InsertMedia is missing", "give the BMC the licence for virtual media, or write an address " +
		"with which the host boots from the network"},
	{"No suitable virtual media device found", "eject the medium that is inserted at the BMC, " +
		"and end what holds it there, such as a console"},
	{"set boot device failed", "update the BMC's firmware: it does not take what the host is to " +
		"boot from"},
}

// Of is what to do about an error; empty if that is not known.
func Of(err string) string {
	for _, one := range known {
		if strings.Contains(err, one.words) {
			return one.do
		}
	}
	return ""
}
