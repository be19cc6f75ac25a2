package provisioning

import (
	"errors"
	"fmt"
	"testing"
	"time"

	cluster "github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

type fields = map[string]any

// The paths of the objects by which the cluster provisions hosts.
const (
	operatorPath = "/apis/metal3.io/v1alpha1/provisionings/" + cluster.Operator
	ironicPath   = "/apis/apps/v1/namespaces/" + cluster.MachineNamespace + "/deployments/metal3"
	hostPath     = "/apis/metal3.io/v1alpha1/namespaces/" + cluster.MachineNamespace + "/baremetalhosts/"
)

// put is another program of the cluster that writes an object. The API may have started just now.
func (s *site) put(path, name string, o fields) {
	s.t.Helper()
	meta, ok := o["metadata"].(fields)
	if !ok {
		meta = fields{}
		o["metadata"] = meta
	}
	meta["name"] = name
	s.await(30*time.Second, func() error { return s.Put(s.t.Context(), path, o) })
}

// operator gives the cluster the object that OpenShift's operator waits with.
func (s *site) operator() {
	s.put(operatorPath, cluster.Operator, fields{"metadata": fields{"annotations": fields{cluster.OperatorPaused: cluster.UntilHandover}}})
}

// ironic has the cluster's own Ironic be ready, on a machine of the provisioning network.
func (s *site) ironic() {
	s.put(ironicPath, "metal3", fields{"status": fields{"replicas": 1, "readyReplicas": 1}})
	s.wire.IP(s.t, fmt.Sprintf("addr replace 172.22.0.3/24 dev %s", link))
}

// handsOver is the cluster's part in the handover, up to the end.
func (s *site) handsOver(t testing.TB) {
	s.operator()
	s.phase(progress.Takeover, 2*time.Minute)
	if err := s.off(); err != nil {
		t.Errorf("OpenShift's operator goes on: %v", err)
	}
	s.ironic()
	s.phase(progress.Ended, time.Minute)
}

// host gives the cluster a host of metal3's in a state. One without a state waits for the handover.
func (s *site) host(name, state string) {
	h := fields{"status": fields{"provisioning": fields{"state": state}}}
	if state == "" {
		h["metadata"] = fields{"annotations": fields{cluster.Paused: cluster.UntilHandover}}
	}
	s.put(hostPath+name, name, h)
}

// over reports whether the phase machine has ended.
func (s *site) over() (bool, error) {
	p, err := s.progress()
	if err == nil && p.Phase == "" {
		err = errors.New("it has no phase")
	}
	return p.Phase == progress.Ended, err
}
