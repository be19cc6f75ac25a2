package release

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

func TestHeirAmong(t *testing.T) {
	for _, tt := range []struct {
		name string
		seen []health.API
		want Heir
	}{
		{name: "no node", want: NoHeir},
		{name: "none is ready", seen: []health.API{health.Gone, health.NotReady, health.ShuttingDown, health.Unknown}, want: NoHeir},
		{name: "one is ready", seen: []health.API{health.Gone, health.Untrusted, health.Ready}, want: ReadyHeir},
		{name: "one serves a foreign certificate", seen: []health.API{health.Gone, health.Untrusted}, want: DoubtedHeir},
	} {
		if got := HeirAmong(tt.seen); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
