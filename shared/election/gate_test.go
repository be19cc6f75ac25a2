package election

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func TestGate(t *testing.T) {
	for _, tt := range []struct {
		name      string
		candidacy Candidacy
		want      Eligibility
	}{
		{"the API was never seen", Candidacy{Kind: vrrp.API}, APINotSeen},
		{"the DNS VIP has the same gate", Candidacy{Kind: vrrp.DNS}, APINotSeen},
		{"the ingress VIP needs no API", Candidacy{Kind: vrrp.Ingress, RanksTaken: true}, Eligible},
		{"no rank is left", Candidacy{Kind: vrrp.API, APISeen: true, RanksTaken: true}, RanksTaken},
		{"multicast needs no peers", Candidacy{Kind: vrrp.API, APISeen: true}, Eligible},
		{"the API does not name the node", Candidacy{Kind: vrrp.API, APISeen: true, Unicast: true, Elects: true}, NotNamed},
		{"the node is alone", Candidacy{Kind: vrrp.Ingress, Unicast: true, Named: true}, TooFew},
		{"all is there", Candidacy{Kind: vrrp.API, APISeen: true, Unicast: true, Named: true, Elects: true}, Eligible},
	} {
		if got := Gate(tt.candidacy); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
