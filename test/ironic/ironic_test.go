package ironic

import "testing"

func TestStart(t *testing.T) {
	s := Start(t, Options{})
	t.Logf("started in %v", s.Started)
}
