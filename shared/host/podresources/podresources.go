// Package podresources asks the kubelet of this machine which pods it runs, by the socket on which
// it tells device plugins and monitors: no API server, no credentials, no process and no container
// runtime's socket, which would be as good as root.
package podresources

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	podresourcesv1 "k8s.io/kubelet/pkg/apis/podresources/v1"
)

// Socket is where the kubelet listens.
const Socket = "/var/lib/kubelet/pod-resources/kubelet.sock"

const (
	// answerWithin bounds a question. The kubelet answers from memory, in milliseconds.
	answerWithin = 2 * time.Second
	// longest is the longest answer that is read: as much as the kubelet's own clients take.
	longest = 16 << 20
)

// Pod is a pod's name, as the API knows it.
type Pod struct{ Namespace, Name string }

// List are the pods that the kubelet at a socket has on this machine, those that are ending among
// them. It takes at most two seconds, and keeps nothing open: the kubelet may be restarted at any
// time.
func List(ctx context.Context, socket string) ([]Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(longest)), grpc.WithDisableServiceConfig(), grpc.WithNoProxy())
	if err != nil {
		return nil, fmt.Errorf("ask the kubelet at %s for its pods: %w", socket, err)
	}
	defer conn.Close()
	answer, err := podresourcesv1.NewPodResourcesListerClient(conn).List(ctx, &podresourcesv1.ListPodResourcesRequest{})
	if err != nil {
		return nil, fmt.Errorf("ask the kubelet at %s for its pods: %s", socket, plain(err))
	}
	pods := make([]Pod, 0, len(answer.GetPodResources()))
	for _, p := range answer.GetPodResources() {
		pods = append(pods, Pod{Namespace: p.GetNamespace(), Name: p.GetName()})
	}
	return pods, nil
}

// plain is why a question failed, without what gRPC says of its own doings.
func plain(err error) string {
	text := status.Convert(err).Message()
	if _, after, ok := strings.Cut(text, "Error while dialing: "); ok {
		text = strings.TrimSuffix(after, `"`)
		if at := strings.LastIndex(text, ": "); at >= 0 {
			text = text[at+len(": "):]
		}
	}
	return text
}
