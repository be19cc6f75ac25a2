package redfish

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
)

// Service is a Redfish service, and which of its systems is read.
type Service struct {
	wire.Options
	System string // the path of the system; empty for the only one
}

// perHost is how long one BMC is read.
const perHost = 90 * time.Second

// reader gathers the facts of one BMC.
type reader struct {
	*wire.Client
	service Service
	facts   Facts
}

// Read reads what a BMC reports. It sends no credentials before the certificate is trusted, and no
// further request after a refused login.
func Read(ctx context.Context, s Service) Facts {
	ctx, cancel := context.WithTimeout(ctx, perHost)
	defer cancel()
	if s.Now == nil {
		s.Now = time.Now
	}
	c, err := wire.New(s.Options)
	if err != nil {
		return Facts{Reach: Unseen, Login: NotTried, Why: err.Error()}
	}
	defer c.Close()
	r := &reader{Client: c, service: s, facts: Facts{Login: NotTried}}
	r.read(ctx)
	r.facts.Sent, r.facts.Chain = c.Sent(), c.Chain()
	hide(&r.facts, s.Options)
	return r.facts
}

func (r *reader) read(ctx context.Context) {
	var root rootDocument
	asked := r.service.Now()
	err := r.Get(ctx, "/redfish/v1/", &root)
	if r.facts.Reach, r.facts.Why = reachOf(err); r.facts.Reach != Reached {
		return
	}
	r.facts.Root = Root{
		Version: string(root.Version), Vendor: vendorOf(root), Product: string(root.Product),
		UUID: string(root.UUID),
	}
	if date := r.Date(); !date.IsZero() {
		r.facts.Clock = Clock{Known: true, Ahead: date.Sub(asked.Truncate(time.Second))}
	}
	if !r.Login() {
		r.facts.Why = "the certificate is not trusted, so the password was not sent"
		return
	}
	system := r.readSystems(ctx, root)
	if r.facts.Login != Accepted {
		return
	}
	if r.facts.System != nil {
		r.readParts(ctx, root, system)
	}
	r.readAccount(ctx, root)
	r.readTasks(ctx, root)
	if err := r.Refused(); err != nil {
		r.facts.Login, r.facts.Why = Withdrawn, err.Error()
	}
}

// reachOf is what the first answer shows. Some BMCs want credentials for the root too.
func reachOf(err error) (Reach, string) {
	var refused *wire.Refusal
	var record tls.RecordHeaderError
	switch {
	case err == nil:
		return Reached, ""
	case errors.As(err, &refused):
		switch refused.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			return Reached, ""
		case http.StatusServiceUnavailable, http.StatusTooManyRequests:
			return Busy, err.Error()
		}
		return Foreign, err.Error()
	case errors.As(err, &record), errors.Is(err, wire.ErrForeign):
		return Foreign, wire.Printable(err.Error())
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused, "the connection is refused"
	case errors.Is(err, context.DeadlineExceeded):
		return Unseen, "no answer in time"
	case strings.Contains(err.Error(), "tls: ") || strings.Contains(err.Error(), "HTTP response"):
		return Foreign, wire.Printable(err.Error())
	}
	return Unseen, wire.Printable(err.Error())
}

// vendorOf is the vendor. Older services have it as the name of their extensions alone.
func vendorOf(root rootDocument) string {
	if names := slices.Sorted(maps.Keys(root.Oem.V)); root.Vendor == "" && len(names) > 0 {
		return wire.Printable(names[0])
	}
	return string(root.Vendor)
}

// readSystems lists the systems, which shows whether the login is accepted, and reads the one that
// was asked for.
func (r *reader) readSystems(ctx context.Context, root rootDocument) (found systemDocument) {
	var systems collection
	err := r.Get(ctx, cmp.Or(string(root.Systems.V.Path), "/redfish/v1/Systems"), &systems)
	if r.facts.Login = loginOf(err); err != nil {
		r.facts.Why = wire.Printable(err.Error())
		return found
	}
	for _, raw := range systems.Members[:min(len(systems.Members), wire.MaxMembers)] {
		var l link
		_ = json.Unmarshal(raw, &l) // what is no reference has no path
		if at := Canonical(string(l.Path)); at != "" && !strings.HasPrefix(at, "//") {
			r.facts.Systems = append(r.facts.Systems, wire.Printable(at))
		}
	}
	wanted := Canonical(r.service.System)
	if wanted == "" && len(r.facts.Systems) == 1 {
		wanted = r.facts.Systems[0]
	}
	if wanted == "" || !slices.Contains(r.facts.Systems, wanted) {
		return found
	}
	if err := r.Get(ctx, wanted, &found); err != nil {
		r.unread(wanted, err)
		return found
	}
	boot := found.Boot.V
	r.facts.System = &System{
		Path: wanted, UUID: string(found.UUID), Serial: string(found.SerialNumber),
		Manufacturer: string(found.Manufacturer), Model: string(found.Model),
		Power:      string(found.PowerState),
		MemoryGiB:  float64(found.MemorySummary.V.TotalSystemMemoryGiB),
		Processors: int(found.Processors.V.Count),
		Boot: Boot{Mode: string(boot.Mode), Modes: texts(boot.Modes), Enabled: string(boot.Enabled),
			Target: string(boot.Target), Targets: texts(boot.Targets)},
	}
	return found
}

func loginOf(err error) Login {
	var refused *wire.Refusal
	switch {
	case err == nil:
		return Accepted
	case !errors.As(err, &refused):
		return Failed
	case refused.Status == http.StatusUnauthorized:
		return Rejected
	case refused.Status == http.StatusForbidden:
		return Forbidden
	}
	return Failed
}

// Canonical is a path as services have it: with a slash at the beginning, and none at the end.
func Canonical(p string) string {
	if p = strings.TrimRight(strings.TrimSpace(p), "/"); p != "" && !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return p
}

// unread notes a document that could not be read.
func (r *reader) unread(p string, err error) {
	if len(r.facts.Unread) < wire.MaxMembers {
		r.facts.Unread = append(r.facts.Unread, wire.Printable(fmt.Sprintf("%s: %v", p, err)))
	}
}

// fetch reads a document, and notes why if it cannot.
func (r *reader) fetch(ctx context.Context, l link, into any) bool {
	if l.Path == "" {
		return false
	}
	if err := r.Get(ctx, string(l.Path), into); err != nil {
		r.unread(string(l.Path), err)
		return false
	}
	return true
}

// members reads the documents of a collection and gives each to a function, which reports whether
// to go on. It reports whether it saw all of them.
func (r *reader) members(ctx context.Context, l link, each func(link, json.RawMessage) bool) bool {
	var all collection
	if !r.fetch(ctx, l, &all) {
		return false
	}
	whole := int(all.Count) <= len(all.Members)
	seen := map[wire.Path]bool{}
	for i, raw := range all.Members {
		var member link
		if i >= wire.MaxMembers {
			r.unread(string(l.Path), fmt.Errorf("has more than %d members", wire.MaxMembers))
			return false
		}
		if json.Unmarshal(raw, &member) != nil || seen[member.Path] {
			continue
		}
		seen[member.Path] = true
		if reference(raw) && !r.fetch(ctx, member, &raw) {
			whole = false
			continue
		}
		if !each(member, raw) {
			return false
		}
	}
	return whole
}

// reference reports whether a member is only a reference, which may have annotations.
func reference(raw json.RawMessage) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	for name := range fields {
		if !strings.HasPrefix(name, "@") {
			return false
		}
	}
	return true
}

func texts(all wire.List[text]) []string {
	out := make([]string, 0, len(all))
	for _, t := range all[:min(len(all), wire.MaxMembers)] {
		out = append(out, string(t))
	}
	return out
}
