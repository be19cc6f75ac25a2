package nft

import (
	"testing"

	"github.com/google/nftables"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestMemo holds that nothing is remembered past a change, whoever makes it, of whatever, and in
// this network alone; and that what has not changed is not read again.
func TestMemo(t *testing.T) {
	var m Memo
	holds := func(t *testing.T, what string, r redirect.Rules, want bool) {
		t.Helper()
		for range 2 {
			if got, err := m.Present(r); err != nil || got != want {
				t.Errorf("%s: %t, %v, want %t", what, got, err, want)
			}
		}
	}
	within(t, func(t *testing.T) {
		holds(t, "nothing", rules(), false)
		ensure(t, rules(), true)
		holds(t, "ours", rules(), true)
		holds(t, "others", rules().Off(), false)
		c, err := nftables.New()
		if err != nil {
			t.Fatal(err)
		}
		c.FlushTable(API.kernels())
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		holds(t, "somebody has flushed it", rules(), false)
		ensure(t, rules(), true)
		c.AddTable(&nftables.Table{Name: "another", Family: API.kernels().Family})
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		holds(t, "beside another one", rules(), true)
		m.present = false
		holds(t, "as it was remembered", rules(), false)
	})
}

// TestMemoRefused holds that who may not ask knows nothing, whatever was there before.
func TestMemoRefused(t *testing.T) {
	ns := netns.New(t)
	err := ns.In(func() error {
		var m Memo
		if _, err := Ensure(rules()); err != nil {
			t.Error(err)
		}
		if got, err := m.Present(rules()); err != nil || !got {
			t.Errorf("%t, %v", got, err)
		}
		dropNetAdmin(t)
		if got, err := m.Present(rules()); err == nil {
			t.Errorf("without the right to ask: %t", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// dropNetAdmin takes the capability from this thread, which ends with the test's network.
func dropNetAdmin(t *testing.T) {
	t.Helper()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		t.Fatal(err)
	}
	data[0].Effective &^= 1 << unix.CAP_NET_ADMIN
	if err := unix.Capset(&header, &data[0]); err != nil {
		t.Fatal(err)
	}
}

func TestReadGeneration(t *testing.T) {
	for _, tt := range []struct {
		name string
		text []byte
		want uint32
		ok   bool
	}{
		{"it alone", []byte{8, 0, 1, 0, 0, 0, 1, 2}, 258, true},
		{"behind another", []byte{5, 0, 3, 0, 'x', 0, 0, 0, 8, 0, 1, 0, 0, 0, 0, 7}, 7, true},
		{"nothing", nil, 0, false},
		{"cut", []byte{8, 0, 1, 0, 0, 0}, 0, false},
		{"too short for a number", []byte{6, 0, 1, 0, 1, 1, 0, 0}, 0, false},
		{"without a size", []byte{0, 0, 1, 0, 0, 0, 0, 0}, 0, false},
		{"the last one's padding is missing", []byte{5, 0, 3, 0, 'x'}, 0, false},
	} {
		if got, err := readGeneration(tt.text); got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s: %d, %v", tt.name, got, err)
		}
	}
}
