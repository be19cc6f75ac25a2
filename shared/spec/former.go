package spec

import "github.com/onprem-infra/onprem-infra/shared/spec/document"

// former is the settings of a live cluster's elections until all nodes can change.
type former struct {
	At           document.Place
	Given        bool
	timing, vrrp document.Scalar[string]
}

func (r *reader) former(v document.Value) former {
	o := r.Map(v)
	r.Known(o, "timing", "vrrp")
	return former{At: v.At, Given: o.Given, timing: r.Text(o.Get("timing")),
		vrrp: r.Text(o.Get("vrrp"))}
}

// checkFormer holds that a migration leads from one setting to another, and that both are written:
// the next release may have another default.
func (r *report) checkFormer(s settings) {
	f := s.former
	r.oneOf(f.timing, Timings()...)
	r.oneOf(f.vrrp, string(Unicast), string(Multicast))
	if f.Given && !f.timing.Given && !f.vrrp.Given {
		r.Errorf(f.At, "is empty: write the former timing or vrrp, or leave migrateFrom out")
	}
	for _, pair := range []struct {
		name          string
		former, wants document.Scalar[string]
	}{{"timing", f.timing, s.timing}, {"vrrp", f.vrrp, s.vrrp}} {
		switch {
		case !pair.former.OK:
		case !pair.wants.Given:
			r.Errorf(pair.former.At, "%s has no successor: write %s beside migrateFrom",
				document.Quote(pair.former.Value), pair.name)
		case pair.wants.OK && pair.wants.Value == pair.former.Value:
			r.Errorf(pair.former.At,
				"%s is the %s that is wanted too: leave it out of migrateFrom",
				document.Quote(pair.former.Value), pair.name)
		}
	}
}
