package cluster

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestYieldsOnTerm holds that a pod of keepalived's which is replaced gives its VIPs to somebody
// who has been heard, and has the time for it.
func TestYieldsOnTerm(t *testing.T) {
	eachContainer(t, func(t *testing.T, p *corev1.Pod, c corev1.Container) {
		yields, program := slices.Index(c.Command, "--yield-on-term"), slices.Index(c.Command, "--")
		if want := c.Name == keepalived; want != (yields > 0 && yields < program) || !want &&
			yields >= 0 {
			t.Errorf("%s runs %q", c.Name, c.Command)
		}
		if grace := p.Spec.TerminationGracePeriodSeconds; yields > 0 && (grace == nil ||
			*grace < 10) {
			t.Errorf("%s has %v to end", c.Name, grace)
		}
	})
}
