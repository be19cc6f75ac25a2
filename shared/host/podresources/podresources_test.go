package podresources

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	podresourcesv1 "k8s.io/kubelet/pkg/apis/podresources/v1"
)

// fakeKubelet is a FAKE of the kubelet: a real gRPC server of its service, which answers as the
// test requires.
type fakeKubelet struct {
	podresourcesv1.UnimplementedPodResourcesListerServer
	pods []Pod
	hang chan struct{} // answers only when closed, if not nil
}

func (f *fakeKubelet) List(
	ctx context.Context, _ *podresourcesv1.ListPodResourcesRequest,
) (*podresourcesv1.ListPodResourcesResponse, error) {
	if f.hang != nil {
		select {
		case <-f.hang:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	answer := &podresourcesv1.ListPodResourcesResponse{}
	for _, p := range f.pods {
		answer.PodResources = append(answer.PodResources, &podresourcesv1.PodResources{Namespace: p.Namespace, Name: p.Name,
			Containers: []*podresourcesv1.ContainerResources{{Name: "router"}}})
	}
	return answer, nil
}

func serve(t *testing.T, socket string, f *fakeKubelet) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	podresourcesv1.RegisterPodResourcesListerServer(server, f)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() { server.Stop(); <-done })
}

func TestList(t *testing.T) {
	many := []Pod{}
	for i := range 20000 { // an answer beyond gRPC's own bound of 4 MB would be refused
		many = append(many, Pod{"openshift-ingress", fmt.Sprintf("pod-%0230d", i)})
	}
	for _, tt := range []struct {
		name string
		pods []Pod
	}{
		{"none", []Pod{}},
		{"some", []Pod{
			{"openshift-ingress", "router-default-5d9f8c7b6d-x7k2p"}, {"default", "web-0"},
		}},
		{"a long answer", many},
	} {
		t.Run(tt.name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "kubelet.sock")
			serve(t, socket, &fakeKubelet{pods: tt.pods})
			got, err := List(t.Context(), socket)
			if err != nil || !slices.Equal(got, tt.pods) {
				t.Errorf("List() = %d pods, %v, want %d", len(got), err, len(tt.pods))
			}
		})
	}
}

// Each fault is an error that names the socket, within the bound. None is an answer without pods.
func TestListTrouble(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, socket string)
	}{
		{"no kubelet", func(*testing.T, string) {}},
		{"a kubelet that has ended", func(t *testing.T, socket string) {
			listener, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			listener.(*net.UnixListener).SetUnlinkOnClose(false)
			listener.Close()
		}},
		{"K-40: a kubelet that hangs", func(t *testing.T, socket string) {
			serve(t, socket, &fakeKubelet{hang: make(chan struct{})})
		}},
		{"a socket without an answer", func(t *testing.T, socket string) {
			listener, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { listener.Close() })
		}},
		{"another service", func(t *testing.T, socket string) {
			listener, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			server := grpc.NewServer()
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = server.Serve(listener)
			}()
			t.Cleanup(func() { server.Stop(); <-done })
		}},
		{"a file", func(t *testing.T, socket string) {
			if err := os.WriteFile(socket, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			socket := filepath.Join(t.TempDir(), "kubelet.sock")
			tt.prepare(t, socket)
			began := time.Now()
			pods, err := List(t.Context(), socket)
			if err == nil || pods != nil || !strings.Contains(err.Error(), socket) {
				t.Errorf("List() = %v, %v, want an error that names %s", pods, err, socket)
			}
			if took := time.Since(began); took > answerWithin+10*time.Second {
				t.Errorf("it took %v, want %v at most", took, answerWithin)
			}
		})
	}
}

// K-42: a check that runs every few seconds for years leaks nothing.
func TestListLeavesNothingOpen(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "kubelet.sock")
	serve(t, socket, &fakeKubelet{})
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	ask := func(times int) {
		for range times {
			if _, err := List(t.Context(), socket); err != nil {
				t.Fatal(err)
			}
		}
	}
	ask(1)
	files, routines := open(), runtime.NumGoroutine()
	ask(100)
	for deadline := time.Now().Add(20 * time.Second); open() > files+5 ||
		runtime.NumGoroutine() > routines+20; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf(
				"%d open files and %d goroutines after 100 questions, %d and %d before", open(),
				runtime.NumGoroutine(), files, routines,
			)
		}
	}
}
