package remedy

import "testing"

// TestOf holds that the more special words count, and that an unknown error has no remedy.
func TestOf(t *testing.T) {
	for err, want := range map[string]string{
		"[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1029)": "renew the BMC's certificate",
		"[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed":                           "have bmcCA name the CA of the BMC's certificate, which must have the BMC's address",
		"HTTP GET https://192.0.2.1/redfish/v1/Systems/7 returned code 503. Base.1.8.SessionLimitExceeded":  "log other users out of the BMC",
		"no such thing": "", "": "",
	} {
		if got := Of(err); got != want {
			t.Errorf("%q: %q, want %q", err, got, want)
		}
	}
}
