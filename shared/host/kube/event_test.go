package kube

import (
	"testing"
	"time"
)

// TestEventName holds that Events of one instant have names of their own, and that one which is created again has its former
// name.
func TestEventName(t *testing.T) {
	at := time.Unix(1, 0)
	one := Event{Reason: "VIPTaken", Message: "This node holds the VIP 192.0.2.5", At: at}
	names := map[string]bool{one.name("n1"): true}
	for _, other := range []Event{{Reason: "VIPLost", Message: one.Message, At: at}, {Reason: one.Reason, Message: "This node holds the VIP 192.0.2.6", At: at}, {Reason: one.Reason, Message: one.Message, At: at.Add(1)}} {
		if name := other.name("n1"); names[name] {
			t.Errorf("%+v has the name of another one: %s", other, name)
		} else {
			names[name] = true
		}
	}
	if again := one; again.name("n1") != one.name("n1") || again.name("n2") == one.name("n1") {
		t.Error("the name is another one, or that of another Node")
	}
}
