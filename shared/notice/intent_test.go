package notice

import (
	"testing"
	"time"
)

func TestIntent(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 5, 0, 0, time.UTC)
	for text, want := range map[string]Intent{
		"compat/unicast":                     {Speaks: "compat/unicast"},
		"compat/unicast knows lan/multicast": {Speaks: "compat/unicast", Knows: "lan/multicast"},
		"compat/unicast knows lan/unicast from 2026-03-01T12:05:00Z": {Speaks: "compat/unicast", Knows: "lan/unicast", At: at},
	} {
		if got := ReadIntent(text); !got.Equal(want) {
			t.Errorf("%q is read as %+v", text, got)
		}
		if got := EncodeIntent(want); got != text {
			t.Errorf("%+v is written as %q", want, got)
		}
	}
	if got := EncodeIntent(Intent{Speaks: "a/b", Knows: "c/d", At: at.In(time.FixedZone("", 3600))}); got != "a/b knows c/d from 2026-03-01T12:05:00Z" {
		t.Errorf("another zone gives %q", got)
	}
	for _, text := range []string{
		"", "lan", "lan/", "/unicast", "lan/unicast ", " lan/unicast", "LAN/unicast", "lan/uni/ca/st", "lan/unicast knows", "lan/unicast knows ",
		"lan/unicast knows lan/unicast knows vm/unicast", "lan/unicast from 2026-03-01T12:05:00Z", "lan/unicast knows vm/unicast from ",
		"lan/unicast knows vm/unicast from noon", "lan/unicast knows vm/unicast from 2026-03-01T12:05:00+01:00",
		"lan/unicast knows vm/unicast from 2026-03-01T12:05:00.5Z", "lan/unicast knows vm/unicast from 0001-01-01T00:00:00Z", "lan/unicast\nknows",
	} {
		if got := ReadIntent(text); got != (Intent{}) {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
