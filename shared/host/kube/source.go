package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
)

const (
	// answerWithin bounds the wait for the start of an answer, and the whole of a page.
	answerWithin = 30 * time.Second
	// page is the number of objects that are asked for at once: a Node fills some 15 kB, and 5,000
	// of them at once some 200 MB.
	page = 100
)

// errAnother says that the kubeconfig names another API than the one that was followed.
var errAnother = errors.New("the kubeconfig names another API")

// kind says which objects are followed, and what of them counts.
type kind struct {
	what           string // in the log
	group          schema.GroupVersion
	resource       string
	namespace      string // empty for all, and for what is in none
	name           string // empty for all
	labels, fields string // selectors; empty for all
	object         runtime.Object
	paged          bool                 // there may be thousands
	slim           func(runtime.Object) // drops what nobody asks for, so that a long list is not held whole
}

// source asks one API for its objects. It adds to client-go's list and watch an end of patience
// with an API that is silent, a pace for one that ends each watch at once, lists that take little
// memory, and watches that go on where they ended.
type source struct {
	*cache.ListWatch
	access *Access
	kind   kind
	server string // that the first answer came from
	pace   flowcontrol.RateLimiter
	crowd  bool                      // it is one of many
	pause  func(error) time.Duration // after a stream that ended so, or was refused
	well   func()                    // hears that a stream goes on
	failed func()                    // hears of a stream that ended at once
}

func newSource(access *Access, k kind) (*source, error) {
	_, config, err := access.load()
	if err != nil {
		return nil, err
	}
	s := &source{access: access, kind: k, server: server(config), pace: flowcontrol.NewTokenBucketRateLimiter(float32(time.Second/pace), 1)}
	s.ListWatch = &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		return resume(ctx, s, options.ResourceVersion), nil
	}}
	return s, nil
}

// server tells one API from another. The credentials are no part of it: they are replaced while it
// stays the same.
func server(config *rest.Config) string { return config.Host + string(config.CAData) }

// IsWatchListSemanticsUnSupported keeps the reflector from asking for the list as a stream: APIs
// before 1.27 would not end such a list, and in pages it takes no more memory.
func (*source) IsWatchListSemanticsUnSupported() bool { return true }

// ask prepares a question with the credentials of now.
func (s *source) ask(options *metav1.ListOptions) (*rest.Request, error) {
	client, config, err := s.access.load()
	if err != nil {
		return nil, err
	}
	if server(config) != s.server {
		return nil, errAnother
	}
	api, err := restClient(client, config, s.kind.group)
	if err != nil {
		return nil, err
	}
	options.LabelSelector, options.FieldSelector = s.kind.labels, s.kind.fields
	// client-go would ask ten times more, once a second, where a connection is taken and closed, as
	// by a balancer without a server.
	return api.Get().MaxRetries(0).NamespaceIfScoped(s.kind.namespace, s.kind.namespace != "").Resource(s.kind.resource).VersionedParams(options, metav1.ParameterCodec), nil
}

// list asks for few objects as client-go would: of what a server remembers, at least as new as what
// was seen already, which costs what is stored nothing however many ask. Thousands of objects are
// asked for in pages, and of what is stored: a server gives what it remembers whole, which takes
// memory here. One of a crowd asks for what the server remembers all the same: as many ask for the
// whole at once.
func (s *source) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	first := metav1.ListOptions{ResourceVersion: options.ResourceVersion}
	switch {
	case !s.kind.paged:
		return s.page(ctx, first)
	case !s.crowd:
		first.ResourceVersion = ""
	case first.ResourceVersion != "": // with a limit alone it would mean exactly this version
		first.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	first.Limit = page
	return s.pages(ctx, first)
}

// pages puts them together.
func (s *source) pages(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	var items []runtime.Object
	var whole runtime.Object
	for {
		list, err := s.page(ctx, options)
		if err != nil {
			return nil, err
		}
		some, err := meta.ExtractList(list)
		if err != nil {
			return nil, err
		}
		for _, object := range some {
			if s.kind.slim != nil {
				s.kind.slim(object)
			}
			items = append(items, object)
		}
		if whole == nil {
			whole = list
		}
		about, err := meta.ListAccessor(list)
		if err != nil {
			return nil, err
		}
		options = metav1.ListOptions{Limit: page, Continue: about.GetContinue()}
		if options.Continue == "" {
			break
		}
	}
	about, err := meta.ListAccessor(whole)
	if err != nil {
		return nil, err
	}
	about.SetContinue("")
	return whole, meta.SetList(whole, items)
}

// page refuses an answer without a version, which is not an API's word and must not be taken for an
// empty cluster.
func (s *source) page(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	question, err := s.ask(&options)
	if err != nil {
		return nil, err
	}
	object, err := question.Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	if list, err := meta.ListAccessor(object); err != nil || !s.isList(object) || list.GetResourceVersion() == "" {
		return nil, fmt.Errorf("the answer is a %T without a version", object)
	}
	return object, nil
}

// isList says whether an answer lists what was asked for.
func (s *source) isList(object runtime.Object) bool {
	return meta.IsListType(object) && fmt.Sprintf("%T", object) == fmt.Sprintf("%TList", s.kind.object)
}
