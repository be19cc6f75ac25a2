package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	// answerWithin bounds the wait for the start of an answer, and the whole of a list.
	answerWithin = 30 * time.Second
	// streamFor is the least time after which the API is asked to end a watch; up to as much again is added, so that the watches of many
	// machines do not end together.
	streamFor = 5 * time.Minute
)

// follow lists if it must and then watches until the stream ends. A stream that the API ends in order is no error.
func (w *Watcher) follow(ctx context.Context, wake chan<- struct{}) error {
	client, server, err := w.access.load()
	if err != nil {
		return err
	}
	if client != w.client { // a version means nothing to another API
		w.client, w.version = client, ""
	}
	if w.version == "" {
		if err := w.list(ctx, server, wake); err != nil {
			return fmt.Errorf("list nodes: %w", err)
		}
	}
	if err := w.watch(ctx, server, wake); err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	return nil
}

func (w *Watcher) list(ctx context.Context, server *url.URL, wake chan<- struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	body, err := w.get(ctx, server, url.Values{})
	if err != nil {
		return err
	}
	defer body.Close()
	var all list
	if err := json.NewDecoder(body).Decode(&all); err != nil {
		return stable(err)
	}
	if all.Kind != "NodeList" || all.Metadata.ResourceVersion == "" {
		return fmt.Errorf("the answer is of kind %q and version %q, not a NodeList", all.Kind, all.Metadata.ResourceVersion)
	}
	w.version = all.Metadata.ResourceVersion
	w.reset(all.Items, wake)
	return nil
}

func (w *Watcher) watch(ctx context.Context, server *url.URL, wake chan<- struct{}) error {
	length := streamFor + rand.N(streamFor)
	ctx, cancel := context.WithTimeout(ctx, length+answerWithin)
	defer cancel()
	silent := time.AfterFunc(answerWithin, cancel)
	body, err := w.get(ctx, server, url.Values{
		"watch":               {"true"},
		"allowWatchBookmarks": {"true"},
		"resourceVersion":     {w.version},
		"timeoutSeconds":      {strconv.Itoa(int(length.Seconds()))},
	})
	silent.Stop()
	if err != nil {
		return err
	}
	defer body.Close()
	for events := json.NewDecoder(body); ; {
		var e event
		if err := events.Decode(&e); errors.Is(err, io.EOF) {
			w.well()
			return nil
		} else if err != nil {
			return stable(err)
		}
		if err := w.take(e, wake); err != nil {
			return err
		}
		w.well()
	}
}

func (w *Watcher) take(e event, wake chan<- struct{}) error {
	if e.Type == "ERROR" {
		var s status
		if err := json.Unmarshal(e.Object, &s); err != nil {
			return fmt.Errorf("read the API's error: %w", err)
		}
		return w.refused(s.Code, s.Message)
	}
	var n node
	if err := json.Unmarshal(e.Object, &n); err != nil || n.Metadata.ResourceVersion == "" {
		return fmt.Errorf("read an event of type %q: it holds no object with a version (%v)", e.Type, err)
	}
	switch e.Type {
	case "ADDED", "MODIFIED":
		w.update(n, true, wake)
	case "DELETED":
		w.update(n, false, wake)
	}
	w.version = n.Metadata.ResourceVersion // a BOOKMARK brings nothing else
	return nil
}

// get returns the body of an answer of 200.
func (w *Watcher) get(ctx context.Context, server *url.URL, query url.Values) (io.ReadCloser, error) {
	target := server.JoinPath("/api/v1/nodes")
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := w.client.Do(request)
	if err != nil {
		return nil, stable(err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	var s status
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	_ = json.Unmarshal(text, &s) // a proxy or an API that is starting may answer in plain text
	return nil, w.refused(answer.StatusCode, s.Message)
}

// refused forgets where the watch stood when the API will not have it: 410, which says that its memory does not reach back so far, or
// another fault of the question. An API that is only overloaded or starting (429, 500s) is asked for the same again.
func (w *Watcher) refused(code int, message string) error {
	if code >= 400 && code < 500 && code != http.StatusTooManyRequests {
		w.version = ""
	}
	return fmt.Errorf("the API answers %d %s", code, message)
}

// stable drops what differs with each attempt, the query and the local port, so that an error that lasts is one error.
func stable(err error) error {
	var target *url.Error
	if errors.As(err, &target) {
		err = target.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		op.Source = nil
	}
	return err
}
