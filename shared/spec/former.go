package spec

// former is what a cluster.yaml says of how its nodes speak until all of them know better.
type former struct {
	at           place
	given        bool
	timing, vrrp said[string]
}

func (r *reader) former(v value) former {
	o := r.object(v)
	r.fields(o, "timing", "vrrp")
	return former{at: v.at, given: o.given, timing: r.text(o.get("timing")), vrrp: r.text(o.get("vrrp"))}
}

// checkFormer holds that a migration leads from one setting to another, and that both stand there:
// a default may be another one in the next release.
func (r *report) checkFormer(s settings) {
	f := s.former
	r.oneOf(f.timing, Timings()...)
	r.oneOf(f.vrrp, string(Unicast), string(Multicast))
	if f.given && !f.timing.given && !f.vrrp.given {
		r.errorf(f.at, "says nothing: write the former timing or vrrp, or leave migrateFrom out")
	}
	for _, pair := range []struct {
		name          string
		former, wants said[string]
	}{{"timing", f.timing, s.timing}, {"vrrp", f.vrrp, s.vrrp}} {
		switch {
		case !pair.former.ok:
		case !pair.wants.given:
			r.errorf(pair.former.at, "nothing says what comes after %s: write %s beside migrateFrom", quote(pair.former.value), pair.name)
		case pair.wants.ok && pair.wants.value == pair.former.value:
			r.errorf(pair.former.at, "%s is the %s that is wanted too: leave it out of migrateFrom", quote(pair.former.value), pair.name)
		}
	}
}
