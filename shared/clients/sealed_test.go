package clients

import (
	"slices"
	"testing"
	"time"
)

func identity(t *testing.T) *Identity {
	t.Helper()
	i, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func channel(t *testing.T, of *Identity, to string) *Channel {
	t.Helper()
	c, err := of.Channel(to, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSeal holds that a node opens what another one sealed for it, once, and nothing else.
func TestSeal(t *testing.T) {
	a, b, other := identity(t), identity(t), identity(t)
	from, to := channel(t, a, b.Public()), channel(t, b, a.Public())
	report := []byte("a report")
	first, second, third := from.Seal(report), from.Seal(report), from.Seal(report)
	if slices.Equal(first[head:], second[head:]) {
		t.Error("two datagrams are alike")
	}
	if got, err := to.Open(second); err != nil || !slices.Equal(got, report) {
		t.Fatalf("%q, %v", got, err)
	}
	for name, datagram := range map[string][]byte{
		"again":    second,
		"an older": first,
		"changed":  append(slices.Clone(third[:len(third)-1]), third[len(third)-1]^1),
		"another number": func() []byte {
			b := slices.Clone(third)
			b[head-1]++
			return b
		}(),
		"cut":            third[:len(third)-1],
		"short":          third[:head-1],
		"empty":          nil,
		"for another":    channel(t, a, other.Public()).Seal(report),
		"from another":   channel(t, other, b.Public()).Seal(report),
		"back to itself": channel(t, b, a.Public()).Seal(report),
	} {
		if got, err := to.Open(datagram); err == nil {
			t.Errorf("%s: opened as %q", name, got)
		}
	}
	if _, err := to.Open(third); err != nil {
		t.Errorf("what was refused closed the channel: %v", err)
	}
}

// TestChannel_Keys holds that a published text which is no key is an error.
func TestChannel_Keys(t *testing.T) {
	for _, published := range []string{"", "?", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="} {
		if _, err := identity(t).Channel(published, time.Unix(1, 0)); err == nil {
			t.Errorf("%q is a key", published)
		}
	}
}
