package query

import (
	"net/netip"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestDropped has a server that does not read: what its buffer has no room for is counted.
func TestDropped(t *testing.T) {
	host, err := lab.New(t).Add("a", netip.MustParsePrefix("192.0.2.1/24"))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"192.0.2.1:53", "[::1]:53"} {
		before, err := Dropped(host)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := host.ListenPacket(at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		client, err := host.Dial(t.Context(), "udp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		const sent = 3000
		for range sent {
			if _, err := client.Write([]byte("question")); err != nil {
				t.Fatal(err)
			}
		}
		after, err := Dropped(host)
		if n := after - before; err != nil || n == 0 || n >= sent {
			t.Errorf("%s: %d of %d packets count as dropped (%v)", at, n, sent, err)
		}
	}
}

// TestOutcome_Dropped holds that a lost question is none if as many were dropped.
func TestOutcome_Dropped(t *testing.T) {
	lost := Answer{Question: Question{Name: "a.", Want: []string{"1"}}, Rcode: -1}
	o := Outcome{Answers: []Answer{lost, lost}, Due: 2, Dropped: 2}
	if err := o.Err(); err != nil {
		t.Error(err)
	}
	if o.Dropped = 1; o.Err() == nil {
		t.Error("a question was lost that was not dropped")
	}
}
