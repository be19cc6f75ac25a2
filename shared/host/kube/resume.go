package kube

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
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// shortest is how long the API is asked to let a stream last; the longest is twice that, and chance
// lies between, so that the streams of many nodes do not end together.
const shortest = 5 * time.Minute

// resumed is one watch made of many streams: when one ends, whatever ended it, the next begins at
// the version that was seen last. client-go's own way is a new list after most faults of a stream,
// which all nodes would ask for at once whenever the API moves to another machine. Only a place
// that the API has forgotten ends a resumed watch.
type resumed struct {
	source *source
	events chan watch.Event
	cancel context.CancelFunc
	done   chan struct{}
}

func resume(ctx context.Context, s *source, version string) *resumed {
	ctx, cancel := context.WithCancel(ctx)
	r := &resumed{source: s, events: make(chan watch.Event), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer close(r.events)
		r.run(ctx, version)
	}()
	return r
}

// ResultChan closes when the watch has ended.
func (r *resumed) ResultChan() <-chan watch.Event { return r.events }

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
		if err == nil && time.Since(began) < steady { // client-go makes an empty stream of a connection that was taken and closed
			r.source.failed()
		}
		long := r.source.pause(err)
		switch {
		case ctx.Err() != nil:
		case forgotten(err):
			r.pass(ctx, watch.Event{Type: watch.Error, Object: &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: err.Error(),
			}})
			return
		default:
			if err != nil {
				klog.FromContext(ctx).Error(err, "watch")
			}
			sleep(ctx, long-pace) // the pace comes on top
		}
	}
}

// sleep returns earlier when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// forgotten says whether no stream can ever begin at this place.
func forgotten(err error) bool {
	return errors.Is(err, errAnother) || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) || apierrors.IsBadRequest(err) || apierrors.IsInvalid(err)
}

// stream passes on the events of one stream and returns the version at which the next one begins.
func (r *resumed) stream(ctx context.Context, version string) (string, error) {
	lasts := shortest + rand.N(shortest)
	ctx, cancel := context.WithTimeout(ctx, lasts+answerWithin) // for a stream that the API does not end when it was asked to
	defer cancel()
	from, err := r.source.open(ctx, cancel, version, lasts)
	if err != nil {
		return version, err
	}
	defer from.Stop()
	defer time.AfterFunc(steady, r.source.well).Stop()
	for event := range from.ResultChan() {
		if event.Type == watch.Error {
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

func (r *resumed) pass(ctx context.Context, event watch.Event) bool {
	select {
	case r.events <- event:
		return true
	case <-ctx.Done():
		return false
	}
}

// open begins a stream, or gives up on an API that is silent: it calls cancel then.
func (s *source) open(ctx context.Context, cancel context.CancelFunc, version string, lasts time.Duration) (watch.Interface, error) {
	seconds := int64(lasts / time.Second)
	question, err := s.ask(&metav1.ListOptions{Watch: true, AllowWatchBookmarks: true, ResourceVersion: version, TimeoutSeconds: &seconds})
	if err != nil {
		return nil, err
	}
	silent := time.AfterFunc(answerWithin, cancel)
	stream, err := question.Watch(ctx)
	if !silent.Stop() && err != nil {
		return nil, fmt.Errorf("no answer within %v", answerWithin)
	}
	return stream, err
}
