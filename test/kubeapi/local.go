package kubeapi

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// Local is a cluster with one API server on this machine's loopback. It ends with the test.
func Local(t testing.TB, s Server) (*Cluster, *Server) {
	t.Helper()
	need.Command(t, "etcd")
	if err := Programs(t.Context()); err != nil {
		need.Missing(t, "needs kube-apiserver: "+err.Error())
	}
	c, err := Open(t.Context(), Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Name = "kube-apiserver"
	server, err := c.Add(s)
	if err == nil {
		err = server.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, server
}
