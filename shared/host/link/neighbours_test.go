package link

import (
	"slices"
	"testing"
)

// TestNeighbours holds that entries made by hand are listed, which may lead astray for ever, and
// that those are not of which nothing is known.
func TestNeighbours(t *testing.T) {
	w := newWire(t)
	w.own.IP(t, "neigh add 192.0.2.5 lladdr 02:00:5e:00:53:63 dev ens3 nud permanent\nneigh add 192.0.2.6 lladdr "+farMAC+" dev ens3 nud stale\n"+
		"neigh add 192.0.2.7 dev ens3 nud failed\nneigh add 2001:db8::5 lladdr "+farMAC+" dev ens3 nud permanent\n")
	var got []Entry
	if err := w.own.In(func() (err error) {
		got, err = Neighbours("ens3")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range got {
		all = append(all, e.Address.String()+" "+e.MAC)
	}
	slices.Sort(all)
	if want := []string{"192.0.2.5 02:00:5e:00:53:63", "192.0.2.6 " + farMAC,
		"2001:db8::5 " + farMAC}; !slices.Equal(all, want) {
		t.Errorf("%q, want %q", all, want)
	}
	if err := w.own.In(func() error { _, err := Neighbours("ens9"); return err }); err == nil {
		t.Error("there is no ens9")
	}
}
