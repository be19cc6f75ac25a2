package plan

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/golden"
)

func TestEncodeSmallest(t *testing.T) { golden.Check(t, Encode(mustCompile(t, smallest()))) }

func TestEncodeFullest(t *testing.T) { golden.Check(t, Encode(mustCompile(t, fullest()))) }

// TestEqualInputEqualBytes fills the maps of the input in another order each time.
func TestEqualInputEqualBytes(t *testing.T) {
	wantPlan, wantCluster := indented(t, mustCompile(t, fullest())), Encode(mustCompile(t, fullest()))
	for range 100 {
		c := fullest()
		c.Images, c.VRIDs, c.Ports = shuffled(c.Images), shuffled(c.VRIDs), shuffled(c.Ports)
		p := mustCompile(t, c)
		if got := indented(t, p); !bytes.Equal(got, wantPlan) {
			t.Fatalf("plan:\n%s\nwant:\n%s", got, wantPlan)
		}
		if got := Encode(p); !bytes.Equal(got, wantCluster) {
			t.Fatalf("cluster.json:\n%s\nwant:\n%s", got, wantCluster)
		}
	}
}

func shuffled[M ~map[string]V, V any](m M) M {
	keys := slices.Collect(maps.Keys(m))
	rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	again := M{}
	for _, k := range keys {
		again[k] = m[k]
	}
	return again
}

func TestHeader(t *testing.T) {
	// The digest is that of `printf abc | sha256sum`.
	want := "Rendered by onprem-infra from /etc/onprem-infra/cluster.json (sha256 ba7816bf8f01); do not edit."
	if got := Header([]byte("abc")); got != want {
		t.Errorf("Header = %q, want %q", got, want)
	}
}
