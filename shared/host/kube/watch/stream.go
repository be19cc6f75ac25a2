package watch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
)

// shortest is the least duration of a stream that is requested; the longest is twice that. The
// duration is random, so that the streams of many nodes do not end together.
const shortest = 5 * time.Minute

// resumed is one watch made of many streams: when one ends, for whatever reason, the next begins at
// the version that was seen last. client-go would list again after most faults of a stream, and all
// nodes would do so at once whenever the API moves to another host. A resumed watch ends only if
// the API has forgotten the version.
type resumed struct {
	source *source
	events chan apiwatch.Event
	cancel context.CancelFunc
	done   chan struct{}
}

func resume(ctx context.Context, s *source, version string) *resumed {
	ctx, cancel := context.WithCancel(ctx)
	r := &resumed{
		source: s, events: make(chan apiwatch.Event), cancel: cancel, done: make(chan struct{}),
	}
	go func() {
		defer close(r.done)
		defer close(r.events)
		r.run(ctx, version)
	}()
	return r
}

// ResultChan closes when the watch has ended.
func (r *resumed) ResultChan() <-chan apiwatch.Event { return r.events }

// Stop ends the watch and may be called again.
func (r *resumed) Stop() {
	r.cancel()
	<-r.done
}

func (r *resumed) run(ctx context.Context, version string) {
	for r.source.pace.Wait(ctx) == nil {
		var err error
		began := time.Now()
		version, err = r.stream(ctx, version)
		if err == nil && time.Since(began) < steady {
			// client-go makes an empty stream of a connection that was accepted and closed.
			r.source.endedAtOnce()
		}
		long := r.source.pause(err)
		switch {
		case ctx.Err() != nil:
		case isForgotten(err):
			r.pass(ctx, apiwatch.Event{Type: apiwatch.Error, Object: &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusGone,
				Reason: metav1.StatusReasonExpired, Message: err.Error(),
			}})
			return
		default:
			if err != nil {
				r.source.fails(ctx, err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(long - pace): // the pace comes on top
			}
		}
	}
}

// isForgotten reports whether no stream can ever begin at this version.
func isForgotten(err error) bool {
	return errors.Is(err, errOtherAPI) || apierrors.IsResourceExpired(err) ||
		apierrors.IsGone(err) || apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
}

// stream passes on the events of one stream and returns the version at which the next one begins.
func (r *resumed) stream(ctx context.Context, version string) (string, error) {
	lasts := shortest + rand.N(shortest)
	// The timeout is for an API that does not end the stream at the requested time.
	ctx, cancel := context.WithTimeout(ctx, lasts+AnswerWithin)
	defer cancel()
	from, err := r.source.open(ctx, cancel, version, lasts)
	if err != nil {
		return version, err
	}
	defer from.Stop()
	defer time.AfterFunc(steady, r.source.works).Stop()
	for event := range from.ResultChan() {
		if event.Type == apiwatch.Error {
			return version, apierrors.FromObject(event.Object)
		}
		about, err := meta.Accessor(event.Object)
		if err != nil {
			return version, fmt.Errorf("an event of a %T", event.Object)
		}
		if !r.pass(ctx, event) {
			break
		}
		if seen := about.GetResourceVersion(); seen != "" {
			version = seen
		}
	}
	return version, nil
}

func (r *resumed) pass(ctx context.Context, event apiwatch.Event) bool {
	select {
	case r.events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}

// open begins a stream. If the API does not answer, it calls cancel.
func (s *source) open(
	ctx context.Context, cancel context.CancelFunc, version string, lasts time.Duration,
) (apiwatch.Interface, error) {
	seconds := int64(lasts / time.Second)
	request, err := s.request(&metav1.ListOptions{
		Watch: true, AllowWatchBookmarks: true, ResourceVersion: version, TimeoutSeconds: &seconds,
	})
	if err != nil {
		return nil, err
	}
	timeout := time.AfterFunc(AnswerWithin, cancel)
	stream, err := request.Watch(ctx)
	if !timeout.Stop() && err != nil {
		return nil, fmt.Errorf("no answer within %v", AnswerWithin)
	}
	return stream, err
}
