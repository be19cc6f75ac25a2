package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
)

// answerWithin bounds the wait for the start of an answer, and the whole of a list.
const answerWithin = 30 * time.Second

// source asks one API for its Nodes. It adds to client-go's own list and watch an end of patience with an API that is silent, and a pace
// for one that ends each watch at once.
type source struct {
	*cache.ListWatch
	access *Access
	client *http.Client
	pace   flowcontrol.RateLimiter
}

// newSource knows the types of core/v1 alone: a clientset, which knows every type of Kubernetes, would double the binary.
func newSource(access *Access, client *http.Client, config *rest.Config) (source, error) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return source{}, err
	}
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/api", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	api, err := rest.RESTClientForConfigAndClient(config, client)
	if err != nil {
		return source{}, err
	}
	nodes := cache.NewListWatchFromClient(api, "nodes", metav1.NamespaceAll, fields.Everything())
	return source{nodes, access, client, flowcontrol.NewTokenBucketRateLimiter(float32(time.Second/pace), 1)}, nil
}

// IsWatchListSemanticsUnSupported keeps the reflector from asking for the list as a stream: APIs before 1.27 would not end such a list.
func (source) IsWatchListSemanticsUnSupported() bool { return true }

// ListWithContext refuses an answer without a version, which is not an API's word and must not be taken for an empty cluster.
func (s source) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	object, err := s.ListWatch.ListWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	if list, ok := object.(*corev1.NodeList); !ok || list.ResourceVersion == "" {
		return nil, fmt.Errorf("the answer is a %T without a version", object)
	}
	return object, nil
}

// WatchWithContext cuts a stream that the API does not end when it was asked to.
func (s source) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if client, _, err := s.access.load(); err != nil || client != s.client {
		return nil, errors.New("the kubeconfig has changed")
	}
	if err := s.pace.Wait(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(*options.TimeoutSeconds)*time.Second+answerWithin)
	silent := time.AfterFunc(answerWithin, cancel)
	stream, err := s.ListWatch.WatchWithContext(ctx, options)
	if !silent.Stop() && err != nil {
		return nil, fmt.Errorf("no answer within %v", answerWithin)
	}
	return stream, err
}
