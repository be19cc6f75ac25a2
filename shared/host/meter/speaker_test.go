package meter_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/meter"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestSpeaker holds that a page has what the speaker reports now, and nothing of one that is silent.
func TestSpeaker(t *testing.T) {
	dir := speakdir.Dir(t.TempDir())
	add := meter.Speaker(dir)
	for _, tt := range []struct {
		name string
		age  time.Duration
		text string // in the place of a status
		want bool
	}{{"none yet", 0, "-", false}, {"now", 0, "", true}, {"long ago", 6 * time.Second, "", false}, {"of another release", 0, "{}", false}} {
		text := []byte(tt.text)
		if tt.text == "" {
			text = spoken.Encode(spoken.Status{At: time.Now().Add(-tt.age), VIPs: []spoken.VIP{{VIP: netip.MustParseAddr("198.51.100.5"), Phase: speak.Announced}}})
		}
		if tt.text != "-" {
			if err := file.Write(dir.At(spoken.StatusFile), text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var page metrics.Page
		add(&page)
		if got := strings.Contains(string(page.Text()), `onprem_bgp_wanted{vip="198.51.100.5"} 1`); got != tt.want {
			t.Errorf("%s: %t\n%s", tt.name, got, page.Text())
		}
	}
}
