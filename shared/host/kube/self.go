package kube

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/onprem-infra/onprem-infra/shared/host/kube/fault"
)

const (
	// reporter is the component that our events name.
	reporter = "onprem-infra"
	// eventsOfNodes holds the events about Nodes, as Nodes have no namespace.
	eventsOfNodes = metav1.NamespaceDefault
	// nodeUser begins the name by which the API knows a kubelet.
	nodeUser = "system:node:"
)

// NodeName is the name of the Node of these kubelet's credentials, from their certificate.
func (a *API) NodeName() (string, error) {
	_, config, err := a.watch.Load()
	if err != nil {
		return "", err
	}
	for rest := config.CertData; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return "", errors.New("read the node's name: " +
				"these credentials have no certificate of a kubelet")
		}
		if block.Type != "CERTIFICATE" {
			continue // the key may come first
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			if name, ok := strings.CutPrefix(c.Subject.CommonName, nodeUser); ok && name != "" {
				return name, nil
			}
		}
	}
}

// Event is an Event about a Node, for people: "kubectl describe node" shows it for an hour.
type Event struct {
	Reason, Message string // one word in camel case, and sentences
	Warning         bool   // something is wrong
	At              time.Time
}

// name is the same only for equal Events of a Node. It has a hash, as several may have one time.
func (e Event) name(node string) string {
	sum := fnv.New32a()
	_, _ = io.WriteString(sum, e.Reason+" "+e.Message) // a sum takes everything
	return fmt.Sprintf("%s.%x.%08x", node, e.At.UnixNano(), sum.Sum32())
}

// CreateNodeEvent creates an Event about a Node, if it is not there. A kubelet's credentials allow
// that without any further right. It takes at most half a minute, and is not tried again.
func (a *API) CreateNodeEvent(ctx context.Context, node string, e Event) error {
	when, kind := metav1.NewTime(e.At), corev1.EventTypeNormal
	if e.Warning {
		kind = corev1.EventTypeWarning
	}
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: eventsOfNodes, Name: e.name(node)},
		// Programs that show a Node's events search for its name here, as kubelets write it.
		InvolvedObject: corev1.ObjectReference{
			APIVersion: "v1", Kind: "Node", Name: node, UID: types.UID(node),
		},
		Reason: e.Reason, Message: e.Message, Type: kind, Count: 1,
		FirstTimestamp: when, LastTimestamp: when,
		Source: corev1.EventSource{Component: reporter, Host: node}, ReportingController: reporter,
		ReportingInstance: node,
	}
	return a.call(ctx, corev1.SchemeGroupVersion, "create an event about Node "+node,
		func(ctx context.Context, api *rest.RESTClient) error {
			events := api.Post().Namespace(eventsOfNodes).Resource("events")
			err := events.Body(event).Do(ctx).Error()
			if apierrors.IsAlreadyExists(err) {
				return nil // the answer to an earlier try was lost
			}
			return err
		})
}

// Annotate sets an annotation of a Node and leaves the rest of it alone. A kubelet's credentials
// allow that for the kubelet's own Node alone, without any further right. It takes at most half a
// minute.
func (a *API) Annotate(ctx context.Context, node, key, value string) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{key: value}},
	})
	if err != nil {
		return err
	}
	// Without the value: it may be a list of all nodes, and another one at each attempt.
	what := fmt.Sprintf("annotate Node %s with %s", node, key)
	return a.call(ctx, corev1.SchemeGroupVersion, what,
		func(ctx context.Context, api *rest.RESTClient) error {
			return api.Patch(types.MergePatchType).Resource("nodes").Name(node).Body(patch).
				Do(ctx).Error()
		})
}

// Subject is what a right is about.
type Subject = fault.Subject

// May asks the API whether these credentials have a right.
func (a *API) May(ctx context.Context, verb string, s Subject) (bool, error) {
	right := &authorizationv1.ResourceAttributes{
		Verb: verb, Group: s.Group, Resource: s.Resource, Namespace: s.Namespace, Name: s.Name,
	}
	review := &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: right},
	}
	answer := new(authorizationv1.SelfSubjectAccessReview)
	what := fmt.Sprintf("ask whether this node may %s %s", verb, s.Resource)
	err := a.call(ctx, authorizationv1.SchemeGroupVersion, what,
		func(ctx context.Context, api *rest.RESTClient) error {
			return api.Post().Resource("selfsubjectaccessreviews").Body(review).Do(ctx).Into(answer)
		})
	return err == nil && answer.Status.Allowed, err
}

// Refused is what the API does not let the local host watch, by its last answers.
func (a *API) Refused() []Subject { return a.watch.Faults.Forbidden() }
