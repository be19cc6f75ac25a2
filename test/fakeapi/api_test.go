package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

const (
	master = `{"metadata":{"name":"master-0","labels":{"node-role.kubernetes.io/master":""}},"status":{"addresses":[{"type":"InternalIP","address":"192.0.2.21"}]}}`
	worker = `{"metadata":{"name":"worker-0"}}`
)

// serve runs a fake with the Nodes in file.
func serve(t *testing.T, file string) *httptest.Server {
	t.Helper()
	api, err := NewAPI(file)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)
	return server
}

func TestReadyz(t *testing.T) {
	server := serve(t, "")
	for _, tt := range []struct {
		mode    string
		set     int
		code    int
		content string
	}{
		{mode: "ok", set: 200, code: 200, content: "ok"},
		{mode: "shutdown", set: 200, code: 500, content: "[-]shutdown failed"},
		{mode: "nonsense", set: 400, code: 500, content: "[-]shutdown failed"},
		{mode: "error", set: 200, code: 500, content: "[+]shutdown ok"},
		{mode: "ok", set: 200, code: 200, content: "ok"},
	} {
		if code, _ := ask(t, "PUT", server.URL+"/fake/readyz", tt.mode); code != tt.set {
			t.Errorf("set %q: %d, want %d", tt.mode, code, tt.set)
		}
		if code, body := ask(t, "GET", server.URL+"/readyz", ""); code != tt.code ||
			!strings.Contains(body, tt.content) {
			t.Errorf("readyz after %q: %d %q, want %d %q", tt.mode, code, body, tt.code, tt.content)
		}
	}
}

func TestIronic(t *testing.T) {
	server := httptest.NewServer(NewIronic())
	t.Cleanup(server.Close)
	for _, tt := range []struct {
		mode string
		set  int
		code int // of the answer; 0 for none
	}{
		{mode: "up", set: 200, code: 200},
		{mode: "hang", set: 200},
		{mode: "nonsense", set: 400},
		{mode: "up", set: 200, code: 200},
	} {
		if code, _ := ask(t, "PUT", server.URL+"/fake/mode", tt.mode); code != tt.set {
			t.Errorf("set %q: %d, want %d", tt.mode, code, tt.set)
		}
		client := http.Client{Timeout: 200 * time.Millisecond}
		answer, err := client.Get(server.URL + "/v1")
		if err == nil {
			answer.Body.Close()
		}
		if tt.code == 0 && err == nil || tt.code != 0 && (err != nil ||
			answer.StatusCode != tt.code) {
			t.Errorf("after %q: %v, %v, want %d", tt.mode, answer, err, tt.code)
		}
	}
}

func TestConfigMaps(t *testing.T) {
	server := serve(t, "")
	maps := server.URL + "/api/v1/namespaces/onprem/configmaps"
	for _, tt := range []struct {
		method, path, body string
		code               int
	}{
		{"GET", "/bootstrap", "", 404},
		{"POST", "", `{"metadata":{"name":"bootstrap"}}`, 201},
		{"GET", "/bootstrap", "", 200},
		{"DELETE", "/bootstrap", "", 200},
		{"GET", "/bootstrap", "", 404},
	} {
		if code, body := ask(t, tt.method, maps+tt.path, tt.body); code != tt.code || code < 300 &&
			!strings.Contains(body, `"kind":"ConfigMap"`) {
			t.Errorf(
				"%s %q: %d %s, want %d and a ConfigMap", tt.method, tt.path, code, body, tt.code,
			)
		}
	}
	if _, body := ask(
		t, "GET", server.URL+"/api/v1/nodes", "",
	); strings.Contains(body, "bootstrap") {
		t.Errorf("a ConfigMap is among the Nodes: %s", body)
	}
}

func TestWatch(t *testing.T) {
	server := serve(t, "")
	nodes := server.URL + "/api/v1/nodes"
	ask(t, "POST", nodes, master)
	ask(t, "POST", nodes, worker)
	_, text := ask(t, "GET", nodes+"?labelSelector=node-role.kubernetes.io/master", "")
	var list struct {
		Kind     string
		Metadata struct{ ResourceVersion string }
		Items    []object
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || list.Kind != "NodeList" ||
		len(list.Items) != 1 || list.Items[0].name() != "master-0" {
		t.Fatalf("list of masters: %s (%v)", text, err)
	}

	watches := []struct{ name, query, want string }{
		{
			name: "after a list", query: "resourceVersion=" + list.Metadata.ResourceVersion,
			want: "MODIFIED worker-0, DELETED master-0, BOOKMARK",
		},
		{name: "instead of a list", query: "resourceVersionMatch=NotOlderThan&sendInitialEvents=true",
			want: "ADDED master-0, ADDED worker-0, BOOKMARK the end of the initial events, MODIFIED worker-0, DELETED master-0, BOOKMARK"},
	}
	var bodies []io.ReadCloser
	for _, tt := range watches {
		answer, err := http.Get(nodes + "?watch=true&allowWatchBookmarks=true&" + tt.query)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		bodies = append(bodies, answer.Body)
	}
	ask(t, "PUT", nodes+"/worker-0", worker)
	ask(t, "DELETE", nodes+"/master-0", "")
	for i, tt := range watches {
		if got := watched(t, bodies[i], strings.Count(tt.want, ",")+1); got != tt.want {
			t.Errorf("watch %s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if code, _ := ask(
		t, "GET", nodes+"?watch=true&resourceVersion=999", "",
	); code != http.StatusGone {
		t.Errorf("watch from a version of another life: %d, want 410", code)
	}
}

// watched is a short text of n events of a stream.
func watched(t *testing.T, stream io.Reader, n int) string {
	t.Helper()
	var seen []string
	for lines := bufio.NewScanner(stream); len(seen) < n && lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		text := e.Type + " " + e.Object.name()
		if annotations, _ := e.Object.meta()["annotations"].(map[string]any); annotations["k8s.io/initial-events-end"] == "true" {
			text += "the end of the initial events"
		}
		seen = append(seen, strings.TrimSpace(text))
	}
	return strings.Join(seen, ", ")
}

// TestRestart holds what a client sees of an API server that was restarted: the Nodes are there,
// the changes from before are not.
func TestRestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nodes.json")
	first := serve(t, file)
	ask(t, "POST", first.URL+"/api/v1/nodes", worker)
	ask(t, "POST", first.URL+"/api/v1/nodes", master)
	second := serve(t, file).URL + "/api/v1/nodes"
	if _, text := ask(t, "GET", second, ""); !strings.Contains(text, `"resourceVersion":"3"`) ||
		!strings.Contains(text, "192.0.2.21") {
		t.Errorf("list after a restart: %s", text)
	}
	if code, _ := ask(
		t, "GET", second+"?watch=true&resourceVersion=2", "",
	); code != http.StatusGone {
		t.Errorf("watch from a version before the restart: %d, want 410", code)
	}
	if code, _ := ask(
		t, "GET", second+"?watch=true&resourceVersion=3&timeoutSeconds=1", "",
	); code != http.StatusOK {
		t.Errorf("watch from the version of the list: %d, want 200", code)
	}
}

// TestPatch merges into a Node, and the watches receive the change.
func TestPatch(t *testing.T) {
	server := serve(t, "")
	ask(t, http.MethodPost, server.URL+"/api/v1/nodes", master)
	patch := func(name, kind, body string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(
			t.Context(), http.MethodPatch, server.URL+"/api/v1/nodes/"+name,
			strings.NewReader(body),
		)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", kind)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	const merge = "application/merge-patch+json"
	for _, tt := range []struct {
		name, kind, body string
		code             int
		with, without    string
	}{
		{
			"master-0", merge, `{"metadata":{"annotations":{"a":"1"}}}`, 200,
			`"annotations":{"a":"1"}`, "",
		},
		{
			"master-0", merge, `{"metadata":{"annotations":{"a":null,"b":"2"}}}`, 200,
			`"annotations":{"b":"2"}`, `"a"`,
		},
		{"master-0", merge, `{"metadata":{"annotations":{"b":"3"}}}`, 200, "192.0.2.21", `"b":"2"`},
		{"nobody", merge, `{}`, 404, "no such object", ""},
		{"master-0", merge, `[]`, 400, "not a merge patch", ""},
		{"master-0", "application/json-patch+json", `{}`, 400, "not a merge patch", ""},
	} {
		code, text := patch(tt.name, tt.kind, tt.body)
		if code != tt.code || !strings.Contains(text, tt.with) || tt.without != "" &&
			strings.Contains(text, tt.without) {
			t.Errorf("%s %s: %d %s", tt.name, tt.body, code, text)
		}
	}
	if _, text := ask(
		t, http.MethodGet, server.URL+"/api/v1/nodes/master-0", "",
	); !strings.Contains(text, `"b":"3"`) || !strings.Contains(text, "node-role") {
		t.Errorf("it is %s", text)
	}
}
