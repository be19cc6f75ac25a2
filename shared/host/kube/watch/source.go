package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
)

const (
	// AnswerWithin bounds the wait for the start of a stream, and for the whole of another answer.
	AnswerWithin = 30 * time.Second
	// page is the number of objects in a request: a Node fills some 15 kB, and 5,000 of them at
	// once some 200 MB.
	page = 100
)

// errOtherAPI reports that the kubeconfig names another API than the one that was watched.
var errOtherAPI = errors.New("the kubeconfig names another API")

// source requests objects from one API. It adds to client-go's list and watch: a timeout, a pace
// for an API that ends each watch at once, lists that take little memory, and watches that resume
// where they ended.
type source struct {
	*watcher
	*cache.ListWatch
	server string // that the first answer came from
	pace   flowcontrol.RateLimiter
}

func newSource(w *watcher) (*source, error) {
	_, config, err := w.Load()
	if err != nil {
		return nil, err
	}
	limit := flowcontrol.NewTokenBucketRateLimiter(float32(time.Second/pace), 1)
	s := &source{watcher: w, server: server(config), pace: limit}
	s.ListWatch = &cache.ListWatch{
		ListWithContextFunc: s.list,
		WatchFuncWithContext: func(
			ctx context.Context, options metav1.ListOptions,
		) (apiwatch.Interface, error) {
			return resume(ctx, s, options.ResourceVersion), nil
		},
	}
	return s, nil
}

// server identifies an API. The credentials are no part of it: they are replaced while the API
// stays the same.
func server(config *rest.Config) string { return config.Host + string(config.CAData) }

// IsWatchListSemanticsUnSupported keeps the reflector from requesting the list as a stream: APIs
// before 1.27 would not end such a list, and in pages it takes no more memory.
func (*source) IsWatchListSemanticsUnSupported() bool { return true }

// request prepares a request with the credentials of now.
func (s *source) request(options *metav1.ListOptions) (*rest.Request, error) {
	client, config, err := s.Load()
	if err != nil {
		return nil, err
	}
	if server(config) != s.server {
		return nil, errOtherAPI
	}
	api, err := kubeconfig.RESTClient(client, config, s.Group)
	if err != nil {
		return nil, err
	}
	options.LabelSelector, options.FieldSelector = s.Labels, s.Fields
	// If a connection is accepted and closed, as by a balancer without a server, client-go would
	// retry ten times, once a second.
	return api.Get().MaxRetries(0).NamespaceIfScoped(s.Namespace, s.Namespace != "").
		Resource(s.Resource).
		VersionedParams(options, metav1.ParameterCodec), nil
}

// list requests few objects as client-go would: from the server's cache, at least as new as what
// was seen already, which costs etcd nothing however many hosts do so. Thousands of objects are
// requested in pages, and from etcd: a server sends its cache as a whole, which takes memory here.
// A host of a crowd requests the server's cache all the same: all of the crowd may list at once.
func (s *source) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	first := metav1.ListOptions{ResourceVersion: options.ResourceVersion}
	switch {
	case !s.Paged:
		return s.page(ctx, first)
	case !s.Crowd:
		first.ResourceVersion = ""
	case first.ResourceVersion != "": // with a limit alone it would mean exactly this version
		first.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
	first.Limit = page
	return s.pages(ctx, first)
}

// pages requests all pages and joins them.
func (s *source) pages(
	ctx context.Context, options metav1.ListOptions,
) (whole runtime.Object, err error) {
	var items []runtime.Object
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
			if s.slim != nil {
				s.slim(object)
			}
			items = append(items, object)
		}
		about, err := meta.ListAccessor(list)
		if err != nil {
			return nil, err
		}
		options = metav1.ListOptions{Limit: page, Continue: about.GetContinue()}
		if whole == nil {
			about.SetContinue("")
			whole = list
		}
		if options.Continue == "" {
			return whole, meta.SetList(whole, items)
		}
	}
}

// page refuses an answer without a version: no API sends one, and it must not be taken for an empty
// cluster.
func (s *source) page(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, AnswerWithin)
	defer cancel()
	request, err := s.request(&options)
	if err != nil {
		return nil, err
	}
	object, err := request.Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	isList := meta.IsListType(object) &&
		fmt.Sprintf("%T", object) == fmt.Sprintf("%TList", s.example)
	if list, err := meta.ListAccessor(object); err != nil || !isList ||
		list.GetResourceVersion() == "" {
		return nil, fmt.Errorf("the answer is a %T without a version", object)
	}
	return object, nil
}
