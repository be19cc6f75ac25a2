package kubeapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// ironicSlice is an EndpointSlice of a Service with these endpoints, each as ADDRESS and words of
// its conditions.
func ironicSlice(name, service string, endpoints ...string) *discoveryv1.EndpointSlice {
	tcp, udp := corev1.ProtocolTCP, corev1.ProtocolUDP
	s := &discoveryv1.EndpointSlice{
		TypeMeta:    metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta:  metav1.ObjectMeta{Namespace: "openshift-machine-api", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports: []discoveryv1.EndpointPort{
			{Name: new("ironic"), Port: new(int32(6388)), Protocol: &tcp}, {Name: new("tftp"), Port: new(int32(69)), Protocol: &udp}, {Name: new("vmedia-https"), Port: new(int32(6183)), Protocol: &tcp},
		},
	}
	for _, text := range endpoints {
		address, conditions, _ := strings.Cut(text, " ")
		e := discoveryv1.Endpoint{Addresses: []string{address}}
		if conditions != "" {
			has := func(word string) *bool { return new(strings.Contains(conditions, word)) }
			e.Conditions = discoveryv1.EndpointConditions{Ready: has("ready"), Serving: has("serving"), Terminating: has("terminating")}
		}
		s.Endpoints = append(s.Endpoints, e)
	}
	return s
}

// TestIronicPods holds that a kubelet sees, by the rights of our objects alone, the conditions and
// the ports of the endpoints of one Service as they change, and those of no other namespace.
func TestIronicPods(t *testing.T) {
	p := Plan()
	p.Ports = port.Numbers(nil)
	service := p.Flavour().Ironic
	c, s := Local(t, Server{})
	apply(t, s, aNamespace("openshift-ingress"), aNamespace(service.Namespace), ironicSlice("metal3-state-a", service.Name, "192.0.2.20 ready serving"), ironicSlice("other-a", "another", "192.0.2.77 ready"))
	m := &monitor{wake: make(chan struct{}, 1), log: new(log)}
	m.api = kube.NewAPI(c.kubelet(t, s, "master-0"), slog.New(slog.NewTextHandler(m.log, nil)))
	pods := m.api.Pods(service.Service)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = pods.Run(ctx, m.wake) })
	t.Cleanup(func() { cancel(); running.Wait() })
	eventually(t, "the watch is refused", m, func() bool { return strings.Contains(m.log.String(), "forbidden") })
	if _, synced := pods.Known(); synced {
		t.Error("it is known where Ironic is, without a right")
	}
	apply(t, s, Objects(p)...)

	known := func(want string) {
		t.Helper()
		var got string
		eventually(t, fmt.Sprintf("Ironic is at %s, and not at what was last seen", want), m, func() bool {
			all, synced := pods.Known()
			got = fmt.Sprint(service.API.Usable(all), service.VirtualMedia.Usable(all))
			return synced && got == want
		})
	}
	put := func(slice *discoveryv1.EndpointSlice) {
		t.Helper()
		path := "/apis/discovery.k8s.io/v1/namespaces/openshift-machine-api/endpointslices/" + slice.Name
		if err := s.Admin().Do(t.Context(), http.MethodPut, path, slice, nil); err != nil {
			t.Fatal(err)
		}
	}
	known("[192.0.2.20:6388] [192.0.2.20:6183]")
	for _, step := range []struct {
		endpoints []string
		want      string
	}{
		{[]string{"192.0.2.20 serving"}, "[] []"},
		{[]string{"192.0.2.20"}, "[192.0.2.20:6388] [192.0.2.20:6183]"}, // no condition is ready, by the API's definition
		{[]string{"192.0.2.20 serving terminating"}, "[] []"},
		{[]string{"192.0.2.20 ready serving terminating", "192.0.2.21 ready serving"}, "[192.0.2.21:6388] [192.0.2.21:6183]"},
		{nil, "[] []"},
	} {
		put(ironicSlice("metal3-state-a", service.Name, step.endpoints...))
		known(step.want)
	}
	second := ironicSlice("metal3-state-b", service.Name, "192.0.2.22 ready")
	second.Ports[0].Port = new(int32(6385))
	apply(t, s, second)
	known("[192.0.2.22:6385] [192.0.2.22:6183]")

	id, err := c.Sign(Node("worker-0"))
	if err != nil {
		t.Fatal(err)
	}
	kubelet, err := c.Client(s, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		may                        bool
		verbs, resource, namespace string
	}{
		{true, "get list watch", "endpointslices", service.Namespace},
		{false, "create update patch delete", "endpointslices", service.Namespace},
		{false, "list watch", "endpointslices", ours},
		{false, "list watch", "endpoints", service.Namespace},
		{false, "get list watch", "pods/log", service.Namespace},
		{false, "list watch", "secrets", service.Namespace},
		{false, "get list watch", "baremetalhosts", service.Namespace},
	} {
		group := map[string]string{"endpointslices": discoveryv1.GroupName, "baremetalhosts": "metal3.io"}[tt.resource]
		for verb := range strings.FieldsSeq(tt.verbs) {
			allowed(t, kubelet, tt.may, authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: tt.resource, Namespace: tt.namespace})
		}
	}
}
