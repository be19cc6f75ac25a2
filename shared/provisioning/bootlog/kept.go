package bootlog

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
)

// Kept is the event as it is kept for a host, whose name is empty if it is not known.
func (e Event) Kept(host string) events.Event {
	kept := events.Event{Time: e.Time, Host: host, MAC: e.MAC, Source: events.DHCP,
		Kind: string(e.Kind)}
	if strings.HasPrefix(kept.Kind, "tftp-") {
		kept.Source = events.TFTP
	}
	var words []string
	if e.Address.IsValid() {
		words = append(words, e.Address.String())
	}
	for _, w := range []string{e.File, e.Class, e.UserClass, e.Detail} {
		if w != "" {
			words = append(words, w)
		}
	}
	kept.Detail = strings.Join(words, " ")
	return kept
}
