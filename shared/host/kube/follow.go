package kube

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// pace is the time between two attempts. It is short, and constant on the control plane and the
// bootstrap machine, because a control plane node that registers just after the API came up must be
// seen before that node has formed a picture of its own.
const pace = time.Second

// An API that refuses who asks is asked at the pace so many times, as one that has just started may
// not know its rights yet, and after that seldom: somebody has to give the right first.
const (
	refusals = 5
	seldom   = 30 * time.Second
)

// follower follows one kind of object. It lists once, then follows one watch that it resumes where
// it ended; only when the API has forgotten that place, or ends a watch with an error, does it list
// again.
type follower struct {
	access   *Access
	kind     kind
	log      *slog.Logger
	troubles *troubles
	crowd    bool // it is one of many

	mu      sync.Mutex
	known   string // as it was logged last
	refused int    // answers in a row
	failed  int    // attempts in a row
}

// run follows the objects until ctx ends. Its error is ctx's, no other: what goes wrong on the way
// is logged when it changes, and tried again.
func (f *follower) run(ctx context.Context, to cache.ReflectorStore) error {
	tell := func(err error) {
		if ctx.Err() == nil {
			f.troubles.hears(f, err)
		}
	}
	told := klog.NewContext(ctx, klog.New(ear{tell}))
	var follow *cache.Reflector
	for {
		next := time.NewTimer(pace)
		var err error
		if follow == nil {
			follow, err = f.reflector(to)
		}
		if err == nil {
			err = follow.ListAndWatchWithContext(told)
		}
		if errors.Is(err, errAnother) { // what was seen of one API means nothing to another
			follow = nil
		}
		if err != nil {
			tell(err)
		}
		if long := f.pause(err); long > pace {
			next.Reset(long)
		}
		select {
		case <-ctx.Done():
			next.Stop()
			return ctx.Err()
		case <-next.C:
		}
	}
}

func (f *follower) reflector(to cache.ReflectorStore) (*cache.Reflector, error) {
	from, err := newSource(f.access, f.kind)
	if err != nil {
		return nil, err
	}
	from.crowd, from.pause, from.well, from.failed = f.crowd, f.pause, f.well, f.fails
	return cache.NewReflectorWithOptions(from, f.kind.object, to, cache.ReflectorOptions{Name: f.kind.resource, Backoff: &wait.Backoff{Duration: pace}}), nil
}

// refusal says whether an error is that somebody has no right.
func refusal(err error) bool { return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) }

// learnt logs what is known now, if it is not what was logged last.
func (f *follower) learnt(key, value string) {
	f.mu.Lock()
	text := key + " " + value
	news := text != f.known
	f.known = text
	f.mu.Unlock()
	if news {
		f.log.Info(f.kind.what, key, value)
	}
}

// lists logs who is there. Of a big cluster that would be a page, so beyond some names it is their
// number.
func (f *follower) lists(key string, names []string) {
	const most = 16
	if len(names) > most {
		f.learnt("number", strconv.Itoa(len(names)))
		return
	}
	f.learnt(key, cmp.Or(strings.Join(names, ", "), "none"))
}
