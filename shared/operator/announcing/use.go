package announcing

import (
	"fmt"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// settled is how old a VIP and a session must be for all routers to have followed.
const settled = 10 * time.Second

// Unused are the routers that have had a VIP from this host for some time, and do not use it: what
// they prefer is a longer path.
func (r Report) Unused(v VIP) (all []string) {
	if v.Phase != speak.Announced || r.Speaker.At.Sub(v.Since) < settled {
		return nil
	}
	for _, u := range v.Uses {
		for _, router := range r.Routers {
			if router.Router == u.Router && router.Up && u.Use == spoken.UseNone &&
				r.Speaker.At.Sub(router.Since) >= settled {
				all = append(all, u.Router)
			}
		}
	}
	return all
}

// Reports reports whether a router reports a path to some VIP.
func (r Report) Reports(router string) bool {
	for _, v := range r.VIPs {
		if v.reports(router) {
			return true
		}
	}
	return false
}

// reports reports whether a router reports a path to the VIP.
func (v VIP) reports(router string) bool {
	for _, o := range v.Others {
		if o.Router == router {
			return true
		}
	}
	for _, u := range v.Uses {
		if u.Router == router && u.Use == spoken.UseFirst {
			return true
		}
	}
	return false
}

// Unreported are the routers that have been there for some time, report paths to other VIPs, and
// none to this one, which this host does not announce.
func (r Report) Unreported(v VIP) (all []string) {
	if len(v.Routers) > 0 || v.Wanted || len(v.Others) > 0 {
		return nil
	}
	for _, router := range r.Routers {
		if router.Up && router.Carries(v.VIP) && r.Reports(router.Router) &&
			r.Speaker.At.Sub(router.Since) >= settled {
			all = append(all, router.Router)
		}
	}
	return all
}

// uses is a line for each thing that routers do with a VIP, where they report it.
func (v VIP) uses() string {
	var text strings.Builder
	for _, of := range []struct {
		use   spoken.Use
		words string
	}{
		{spoken.UseFirst, "prefers this host's path"},
		{spoken.UseEqual, "prefers a path of the same length, and may use this host's beside it"},
		{spoken.UseBehind, "prefers a shorter path, which is in front of this host's"},
		{spoken.UseUnknown, "does not report which path it prefers: this host's, or it reports " +
			"none to hosts"},
		{spoken.UseNone, "does not use this host's path: it prefers a longer one"},
	} {
		var routers []string
		for _, u := range v.Uses {
			if u.Use == of.use {
				routers = append(routers, u.Router)
			}
		}
		if len(routers) > 0 {
			fmt.Fprintf(&text, "%s: router %s %s\n", v.VIP, strings.Join(routers, ", "), of.words)
		}
	}
	return text.String()
}
