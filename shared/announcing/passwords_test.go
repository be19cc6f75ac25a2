package announcing_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestCheckPasswords holds that a password of a router that no rack has is named, and that a gateway may
// have one.
func TestCheckPasswords(t *testing.T) {
	p := compile(t, nil)
	for text, want := range map[string][]string{
		"# none\n": nil,
		"10.1.1.1 s3cret\nuplink s3cret\n10.1.2.1 s3cret\n": nil, // a peer, an interface, a gateway
		"10.1.1.9 s3cret\n10.1.1.1 s3cret\n10.9.1.1 s3cret": {"10.1.1.9", "10.9.1.1"},
		"fd00:3::1 s3cret": nil,
		"198.51.100.1 six": {"198.51.100.1"},
	} {
		err := announcing.CheckPasswords(*p.BGP, text)
		var unknown announcing.UnknownPeers
		errors.As(err, &unknown)
		if (err == nil) != (want == nil) || !slices.Equal(unknown.Names, want) || err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"10.1.1.1 a\ns3cret 10.1.1.2\n", "s3cret fd00:3::1", "s3cret uplink"} {
		if err := announcing.CheckPasswords(*p.BGP, text); err == nil || !strings.Contains(err.Error(), "the password first") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	p.BGP.Racks = p.BGP.Racks[:1]
	if err := announcing.CheckPasswords(*p.BGP, "s3cret 10.1.1.2"); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("where every rack names its routers: %v", err)
	}
	if err := announcing.CheckPasswords(*p.BGP, "uplink s3cret"); err == nil {
		t.Error("an interface where every rack names its routers is known")
	}
	if err := announcing.CheckPasswords(*p.BGP, "10.1.1.1"); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a line without a password: %v", err)
	}
	if err := announcing.CheckPasswords(*p.BGP, "10.1.1.1 s3cret\n\n10.1.1.1 s3cret2\n"); err == nil || !strings.Contains(err.Error(), "line 3: it is of the same router as line 1") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("two lines of a router: %v", err)
	}
}

// TestPasswordsOf holds that the passwords of an install-config become the file that hosts read.
func TestPasswordsOf(t *testing.T) {
	if text := announcing.PasswordsOf(spec.Routing{}); text != nil {
		t.Errorf("without one: %q", text)
	}
	of := map[netip.Addr]secret.Text{ip("2001:db8::1"): secret.New("b"), ip("192.0.2.1"): secret.New("a")}
	text := announcing.PasswordsOf(spec.Routing{Passwords: of})
	got, err := spoken.Passwords(string(text))
	if string(text) != "192.0.2.1 a\n2001:db8::1 b\n" || err != nil || got["2001:db8::1"].Reveal() != "b" {
		t.Errorf("%q, %v", text, err)
	}
}
