package kube

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// reporter is who tells of our events.
const reporter = "onprem-infra"

// eventsOfNodes is where events about Nodes are kept, as Nodes have no namespace.
const eventsOfNodes = metav1.NamespaceDefault

// nodeUser begins the name by which the API knows a kubelet.
const nodeUser = "system:node:"

// NodeName is the name of the Node whose kubelet's credentials these are, as its certificate says.
func (a *API) NodeName() (string, error) {
	_, config, err := a.access.load()
	if err != nil {
		return "", err
	}
	for rest := config.CertData; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return "", errors.New("read the node's name: these credentials have no certificate of a kubelet")
		}
		if block.Type != "CERTIFICATE" {
			continue // the key may stand before it
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			if name, ok := strings.CutPrefix(c.Subject.CommonName, nodeUser); ok && name != "" {
				return name, nil
			}
		}
	}
}

// TellOfNode makes an Event about a Node, which is for people: "kubectl describe node" shows it for
// an hour. reason is one word in camel case. A kubelet's credentials allow that without any further
// right. It takes at most half a minute, and is never tried again.
func (a *API) TellOfNode(ctx context.Context, node, reason, message string, at time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	api, err := a.core()
	if err != nil {
		return err
	}
	when := metav1.NewTime(at)
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: eventsOfNodes, Name: fmt.Sprintf("%s.%x", node, at.UnixNano())},
		// Who shows a Node's events looks for its name here, as kubelets write it.
		InvolvedObject: corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node, UID: types.UID(node)},
		Reason:         reason, Message: message, Type: corev1.EventTypeNormal, Count: 1, FirstTimestamp: when, LastTimestamp: when,
		Source: corev1.EventSource{Component: reporter, Host: node}, ReportingController: reporter, ReportingInstance: node,
	}
	if err := api.Post().Namespace(eventsOfNodes).Resource("events").Body(event).Do(ctx).Error(); err != nil {
		return fmt.Errorf("tell of Node %s: %w", node, stable(err))
	}
	return nil
}
