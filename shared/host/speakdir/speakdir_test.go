package speakdir_test

import (
	"context"
	"net/netip"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/host/uptime"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestDir holds that what is not there yet is the zero value, that each file is read as it was written, and
// that a configuration of another release is none, while such a status is an error.
func TestDir(t *testing.T) {
	d := speakdir.Dir(t.TempDir())
	monitor := speakdir.Monitor{Dir: d}
	c, errConfig := d.Config()
	s, errStatus := d.Status()
	if errConfig != nil || errStatus != nil || c.Router.IsValid() || !s.At.IsZero() || d.Leave(false) != nil || d.ForgetStatus() != nil {
		t.Errorf("of nothing: %+v, %v, %+v, %v", c, errConfig, s, errStatus)
	}
	config := spoken.Config{ASN: 64512, Router: netip.MustParseAddr("192.0.2.10"), Timing: bgp.Profiles()[0], VIPs: []netip.Addr{netip.MustParseAddr("198.51.100.5")}}
	wish := spoken.Wish{Beat: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)}
	status := spoken.Status{At: wish.Beat, Left: true}
	for range 2 {
		if err := d.Configure(config); err != nil {
			t.Fatal(err)
		}
		if err := monitor.Wish(wish); err != nil {
			t.Fatal(err)
		}
		if err := d.Leave(true); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(d.At(name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(spoken.StatusFile, spoken.Encode(status))
	c, errConfig = d.Config()
	s, errStatus = d.Status()
	text, err := os.ReadFile(d.At(spoken.WishFile))
	if err != nil || string(text) != string(spoken.Encode(wish)) || errConfig != nil || errStatus != nil || c.Router != config.Router || !s.Left {
		t.Errorf("%+v, %v, %+v, %v, %s", c, errConfig, s, errStatus, text)
	}
	if _, err := os.Stat(d.At(spoken.LeaveFile)); err != nil {
		t.Error(err)
	}
	if err := d.Leave(false); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.At(spoken.LeaveFile)); !os.IsNotExist(err) {
		t.Errorf("it is asked to leave: %v", err)
	}
	write(spoken.ConfigFile, []byte(`{"Version": 99}`))
	write(spoken.StatusFile, []byte(`{"Version": 99}`))
	if c, err := d.Config(); err != nil || !reflect.DeepEqual(c, spoken.Config{}) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := d.Status(); err == nil {
		t.Error("a status of another release is read")
	}
	if err := d.ForgetStatus(); err != nil {
		t.Error(err)
	}
	if s, err := d.Status(); err != nil || s.Left {
		t.Errorf("it is not forgotten: %v", err)
	}
}

// TestAwaitLeft_Clock holds that a wait for a speaker goes by its life, and not by the host's clock: with one that runs it
// lasts until all has been left, and with one that has died it ends at once, wherever the clock was set meanwhile.
func TestAwaitLeft_Clock(t *testing.T) {
	for _, set := range []time.Duration{-8 * time.Hour, 0, 8 * time.Hour} {
		d := speakdir.Dir(t.TempDir())
		write := func(s spoken.Status) {
			s.At = time.Now().Add(set)
			// As the speaker does: a reader never sees a part of it.
			if _, err := file.Update(d.At(spoken.StatusFile), spoken.Encode(s), 0o644); err != nil {
				t.Error(err)
			}
		}
		write(spoken.Status{Up: uptime.Now()})
		ended := make(chan time.Time, 1)
		go func() {
			if _, err := d.AwaitLeft(t.Context()); err != nil {
				t.Error(err)
			}
			ended <- time.Now()
		}()
		select {
		case <-ended:
			t.Errorf("%v: it did not wait for a speaker that runs", set)
		case <-time.After(200 * time.Millisecond):
			write(spoken.Status{Up: uptime.Now(), Left: true})
			<-ended
		}
		write(spoken.Status{Up: uptime.Now() - 11*time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if _, err := d.AwaitLeft(ctx); err != nil {
			t.Errorf("%v: it waits for a speaker that has died: %v", set, err)
		}
		cancel()
	}
}
