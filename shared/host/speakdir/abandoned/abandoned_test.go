package abandoned

import (
	"log/slog"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link/loopback"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestWatch holds that VIPs stay while a speaker lives, and while it is away for as long as a new start takes; that
// they go after that, and other addresses stay; and that the next speaker may begin.
func TestWatch(t *testing.T) {
	t.Parallel()
	host, err := lab.New(t).Add("host", netip.MustParsePrefix("192.0.2.10/24"))
	if err != nil {
		t.Fatal(err)
	}
	vips := []netip.Addr{netip.MustParseAddr("198.51.100.5"), netip.MustParseAddr("2001:db8:1::5")}
	other := netip.MustParseAddr("198.51.100.9")
	all := append(slices.Clone(vips), other)
	do := func(what func() error) {
		t.Helper()
		if err := host.Do(what); err != nil {
			t.Fatal(err)
		}
	}
	add := func() {
		for _, a := range all {
			do(func() error { return loopback.Add(a) })
		}
	}
	dir := speakdir.Dir(t.TempDir())
	w := &watcher{Options: Options{Dir: dir, VIPs: vips, Log: slog.New(slog.DiscardHandler)}}
	begun := time.Now()
	after := func(at time.Duration, want []netip.Addr) {
		t.Helper()
		var held []netip.Addr
		do(func() error { return w.watch(begun.Add(at)) })
		do(func() (err error) { held, err = loopback.Held(all); return err })
		if !slices.Equal(held, want) {
			t.Errorf("after %v the host has %v, want %v", at, held, want)
		}
	}
	add()
	live := func() (end func()) {
		t.Helper()
		end, err := file.Lock(t.Context(), dir.At(spoken.LockFile))
		if err != nil {
			t.Fatal(err)
		}
		return end
	}
	const s = time.Second
	end := live()
	after(0, all)
	after(60*s, all)
	end()
	after(61*s, all)
	after(70*s, all)
	end = live() // it is back
	after(80*s, all)
	end()
	after(81*s, all)
	after(90*s, all)
	after(91*s, []netip.Addr{other})
	end = live()
	add() // as the next one does
	after(92*s, all)
	end()
	after(93*s, all)
	after(103*s, []netip.Addr{other})
	none := &watcher{Options: Options{Dir: dir + "/none", VIPs: vips, Log: slog.New(slog.DiscardHandler)}}
	for range 2 {
		do(func() error { return none.watch(time.Now()) })
	}
}
