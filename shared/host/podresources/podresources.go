// Package podresources lists the pods that the local kubelet runs, by its socket for monitors: that
// needs no API server, no credentials and no container runtime's socket, which equals root.
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
	// answerWithin bounds a request. The kubelet answers from memory, in milliseconds.
	answerWithin = 2 * time.Second
	// longest is the longest answer that is read, as in the kubelet's own clients.
	longest = 16 << 20
)

// Pod is a pod's name, as the API knows it.
type Pod struct{ Namespace, Name string }

// List are the pods that the kubelet at a socket runs, including those that are ending. It takes at
// most two seconds and keeps nothing open: the kubelet may restart at any time.
func List(ctx context.Context, socket string) ([]Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	conn, err := grpc.NewClient("unix://"+socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(longest)),
		grpc.WithDisableServiceConfig(), grpc.WithNoProxy())
	if err != nil {
		return nil, fmt.Errorf("list the pods of the kubelet at %s: %w", socket, err)
	}
	defer conn.Close()
	answer, err := podresourcesv1.NewPodResourcesListerClient(conn).
		List(ctx, &podresourcesv1.ListPodResourcesRequest{})
	if err != nil {
		return nil, fmt.Errorf("list the pods of the kubelet at %s: %s", socket, plain(err))
	}
	pods := make([]Pod, 0, len(answer.GetPodResources()))
	for _, p := range answer.GetPodResources() {
		pods = append(pods, Pod{Namespace: p.GetNamespace(), Name: p.GetName()})
	}
	return pods, nil
}

// plain is why a request failed, without gRPC's own context.
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
