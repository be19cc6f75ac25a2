package kube

import (
	"log/slog"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// gather is how long the first fault waits for others that have its cause: all that is followed
// through one connection is lost with it.
const gather = 300 * time.Millisecond

// steady is how long an answer that goes on must have gone on to be a sign of health, where nothing
// happens of which it could tell.
const steady = 2 * time.Second

// troubles say what is wrong with all that is followed through one API: a line for each cause, with
// all that it has hit, and one when everything is well again.
type troubles struct {
	log *slog.Logger

	mu    sync.Mutex
	ill   map[*follower]trouble   // what is wrong with who is not well
	fresh []*follower             // whose trouble is not in the log yet
	waits bool                    // for more of them
	said  map[saying]bool         // since all was well
	stale map[*follower]time.Time // when one had to begin anew, as the API had forgotten where it was
	lost  map[string]bool         // named in the log since all was well
	since time.Time               // it is not
}

// trouble is a cause, and what somebody has to do about it.
type trouble struct {
	text, do string
	right    bool // to follow is missing
}

type saying struct {
	who  *follower
	text string
}

func newTroubles(log *slog.Logger) *troubles {
	return &troubles{log: log, ill: map[*follower]trouble{}, said: map[saying]bool{}, stale: map[*follower]time.Time{}, lost: map[string]bool{}}
}

// hears takes what went wrong for a follower. What it has heard of it before is no news, and what
// is followed by something else at once is not said.
func (t *troubles) hears(f *follower, err error) {
	one := trouble{text: plain(err), do: remedy(err), right: apierrors.IsForbidden(err)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first(f, err) {
		return
	}
	if len(t.ill) == 0 && len(t.lost) == 0 {
		t.since = time.Now()
	}
	t.ill[f] = one
	if t.said[saying{f, one.text}] || slices.Contains(t.fresh, f) {
		return
	}
	t.fresh = append(t.fresh, f)
	if !t.waits {
		t.waits = true
		time.AfterFunc(gather, t.say)
	}
}

// often is how soon after one place was forgotten another one may be.
const often = time.Minute

// first says whether an error is that the API has forgotten where a follower was, for the first
// time in a while: as it does to who was away, and who then asks for everything anew.
func (t *troubles) first(f *follower, err error) bool {
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
		return false
	}
	now := time.Now()
	if ago := now.Sub(t.stale[f]); ago < often {
		return ago < gather
	}
	t.stale[f] = now
	return true
}

// well takes that a follower hears the API.
func (t *troubles) well(f *follower) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ill := t.ill[f]; !ill {
		return
	}
	delete(t.ill, f)
	t.over()
}

// say writes down what has come together, of those that are not well yet.
func (t *troubles) say() {
	t.mu.Lock()
	defer t.mu.Unlock()
	hit := map[trouble]map[string]bool{}
	var order []trouble
	for _, f := range t.fresh {
		one, ill := t.ill[f]
		if !ill || t.said[saying{f, one.text}] {
			continue
		}
		if hit[one] == nil {
			hit[one], order = map[string]bool{}, append(order, one)
		}
		hit[one][f.kind.what], t.said[saying{f, one.text}] = true, true
	}
	for _, one := range order {
		args := []any{"error", one.text}
		if one.do != "" {
			args = append(args, "do", one.do)
		}
		t.log.Warn("watch "+names(hit[one]), args...)
		maps.Copy(t.lost, hit[one])
	}
	t.fresh, t.waits = nil, false
	t.over()
}

// over says that everything is well again, once it is.
func (t *troubles) over() {
	if len(t.ill) > 0 || t.waits {
		return
	}
	clear(t.said)
	if len(t.lost) == 0 {
		return
	}
	t.log.Info("watch "+names(t.lost)+" again", "after", time.Since(t.since).Round(100*time.Millisecond))
	clear(t.lost)
}

func names(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), ", ") }

// remedy is what somebody has to do before the API answers; empty where nobody has to.
func remedy(err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return "give nodes the right to it: apply the objects that 'onprem-infra render --role=cluster' writes"
	case apierrors.IsUnauthorized(err):
		return "see to the kubelet's credentials: the API does not accept them"
	}
	return ""
}

// What tells of a connection that somebody has cut, in whatever was going on. Who reads of it needs
// to know no more.
var (
	cutOff = regexp.MustCompile(`software caused connection abort|connection reset by peer|broken pipe|unexpected EOF|client connection lost|GOAWAY|use of closed network connection`)
	ports  = regexp.MustCompile(`(\d|\]):\d+->`)
)

// plain is an error without what differs with each attempt, and in plain words where it is of the
// kind that every move of a VIP brings.
func plain(err error) string {
	text := ports.ReplaceAllString(stable(err).Error(), "$1->")
	if cutOff.MatchString(text) {
		return "the connection was cut"
	}
	return text
}
