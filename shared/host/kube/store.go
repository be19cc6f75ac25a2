package kube

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// store is the Watcher as client-go fills it.
type store struct {
	*Watcher
	wake chan<- struct{}
}

// Replace takes the whole truth: who is not in it is gone.
func (s store) Replace(all []any, _ string) error {
	nodes := map[string]addr.Node{}
	for _, object := range all {
		node, ok := object.(*corev1.Node)
		if !ok {
			return fmt.Errorf("read a list of nodes: it holds a %T", object)
		}
		if controlPlane(node) {
			nodes[node.Name] = address(node)
		}
	}
	s.mu.Lock()
	changed := !s.synced || !maps.EqualFunc(s.nodes, nodes, addr.Node.Equal)
	s.nodes, s.synced = nodes, true
	s.mu.Unlock()
	if changed {
		s.announce()
	}
	return nil
}

func (s store) Add(object any) error    { return s.take(object, true) }
func (s store) Update(object any) error { return s.take(object, true) }
func (s store) Delete(object any) error { return s.take(object, false) }

// Bookmark is called when the API says that nothing happened up to a version.
func (s store) Bookmark(string) error {
	s.well()
	return nil
}

// Resync is for stores that look at everything again from time to time.
func (store) Resync() error { return nil }

// take one Node as it is now; present is false when it was deleted.
func (s store) take(object any, present bool) error {
	node, ok := object.(*corev1.Node)
	if !ok {
		return fmt.Errorf("read an event of a node: it holds a %T", object)
	}
	s.well()
	now, wanted := address(node), present && controlPlane(node)
	s.mu.Lock()
	before, known := s.nodes[node.Name]
	changed := known != wanted || known && !before.Equal(now)
	if wanted {
		s.nodes[node.Name] = now
	} else {
		delete(s.nodes, node.Name)
	}
	s.mu.Unlock()
	if changed {
		s.announce()
	}
	return nil
}

func (s store) announce() {
	nodes, _ := s.Nodes()
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	s.log.Info("control plane nodes", "names", names)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
