package kubeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Client sends requests to one server as one user, from the server's own place.
type Client struct {
	url  string
	http *http.Client
}

// Client sends requests to a server with an identity.
func (c *Cluster) Client(s *Server, id Identity) (*Client, error) {
	config, err := c.tls(id)
	if err != nil {
		return nil, err
	}
	// Without kept connections: the server may have been replaced since the last request.
	return &Client{url: s.URL(), http: &http.Client{Transport: &http.Transport{
		TLSClientConfig: config, DisableKeepAlives: true, ForceAttemptHTTP2: false,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return s.Place.Dial(ctx, network, s.Address.String())
		},
	}}}, nil
}

// Admin sends requests to the server as a user that may do everything.
func (s *Server) Admin() *Client { return s.client }

// Refusal is an answer of the API with a status that is not 2xx.
type Refusal struct {
	Code    int
	Message string
}

func (r Refusal) Error() string { return fmt.Sprintf("%d: %s", r.Code, r.Message) }

// Do sends body, if it is not nil, as JSON to a path such as /api/v1/nodes, and reads the answer
// into out, if it is not nil.
func (c *Client) Do(ctx context.Context, method, path string, body, out any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, content)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return Refusal{answer.StatusCode, message(text)}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// Apply creates objects, each with its kind, in their order.
func (s *Server) Apply(ctx context.Context, objects ...runtime.Object) error {
	for _, o := range objects {
		about, err := meta.Accessor(o)
		if err != nil {
			return err
		}
		path := collection(o.GetObjectKind().GroupVersionKind(), about.GetNamespace())
		if err := s.client.Do(ctx, http.MethodPost, path, o, nil); err != nil {
			return fmt.Errorf("make %s in %s: %w", about.GetName(), path, err)
		}
	}
	return nil
}

// collection is where objects of a kind are made.
func collection(kind schema.GroupVersionKind, namespace string) string {
	path := "/api/" + kind.Version
	if kind.Group != "" {
		path = "/apis/" + kind.Group + "/" + kind.Version
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	if name, ok := strings.CutSuffix(strings.ToLower(kind.Kind), "y"); ok {
		return path + "/" + name + "ies"
	}
	return path + "/" + strings.ToLower(kind.Kind) + "s"
}

// message is the message of a Status, or the whole text.
func message(text []byte) string {
	var status struct{ Message string }
	if json.Unmarshal(text, &status) == nil && status.Message != "" {
		return status.Message
	}
	return string(bytes.TrimSpace(text))
}

// audited reads an audit log.
func audited(log []byte, user string) ([]string, error) {
	var requests []string
	for line := range bytes.Lines(log) {
		var event struct {
			Stage, Verb, RequestURI string
			User                    struct{ Username string }
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return requests, fmt.Errorf("read the audit log: %w", err)
		}
		// The log has a watch when it begins and when it ends, other requests only when they are
		// answered.
		if event.User.Username == user && event.Stage == map[bool]string{true: "ResponseStarted", false: "ResponseComplete"}[event.Verb == "watch"] {
			requests = append(requests, event.Verb+" "+event.RequestURI)
		}
	}
	return requests, nil
}
