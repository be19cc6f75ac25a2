package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// bookmarkEvery is how often a watch without events receives its version.
const bookmarkEvery = 5 * time.Second

// API is the fake of an API server.
type API struct {
	*http.ServeMux
	nodes       *store
	readyz      atomic.Value // string: ok, error, shutdown, hang
	credentials atomic.Value // string: accepted, refused; decides the answer to /version
	writes      atomic.Value // string: accepted, refused; of ConfigMaps
}

// hosts are the kinds by which OpenShift's operators and metal3 provision hosts, with their paths.
// Nothing acts on them. Namespaces are not distinguished.
var hosts = []struct{ kind, version, path string }{
	{"Provisioning", "metal3.io/v1alpha1", "/apis/metal3.io/v1alpha1/provisionings"},
	{"BareMetalHost", "metal3.io/v1alpha1",
		"/apis/metal3.io/v1alpha1/namespaces/{namespace}/baremetalhosts"},
	{"Deployment", "apps/v1", "/apis/apps/v1/namespaces/{namespace}/deployments"},
}

// NewAPI makes an API that is ready, with the Nodes in file, and hosts in files beside it; without a
// file they are lost when it exits.
func NewAPI(file string) (*API, error) {
	nodes, err := newStore(file)
	if err != nil {
		return nil, err
	}
	configMaps, err := newStore("")
	if err != nil {
		return nil, err
	}
	endpointSlices, err := newStore("")
	if err != nil {
		return nil, err
	}
	a := &API{ServeMux: http.NewServeMux(), nodes: nodes}
	a.readyz.Store("ok")
	a.credentials.Store("accepted")
	a.writes.Store("accepted")
	a.HandleFunc("GET /readyz", a.ready)
	a.HandleFunc("PUT /fake/readyz", a.setReady)
	a.HandleFunc("PUT /fake/credentials", func(w http.ResponseWriter, r *http.Request) {
		setMode(w, r, &a.credentials, "accepted", "refused")
	})
	a.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		if a.credentials.Load() == "refused" {
			failure(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
			return
		}
		reply(w, http.StatusOK, map[string]string{
			"major": "1", "minor": "0", "gitVersion": "v1.0.0-fake",
		})
	})
	a.serve("/api/v1/nodes", resource{store: nodes, kind: "Node", version: "v1"})
	a.HandleFunc("PUT /fake/writes", func(w http.ResponseWriter, r *http.Request) {
		setMode(w, r, &a.writes, "accepted", "refused")
	})
	for _, k := range hosts {
		own := file
		if file != "" {
			own += "." + strings.ToLower(k.kind)
		}
		kept, err := newStore(own)
		if err != nil {
			return nil, err
		}
		a.serve(k.path, resource{store: kept, kind: k.kind, version: k.version})
	}
	// Namespaces are not distinguished: there is one bootstrap machine, and one Ironic.
	a.serve("/api/v1/namespaces/{namespace}/configmaps",
		resource{store: configMaps, kind: "ConfigMap", version: "v1", mode: &a.writes})
	a.serve("/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices",
		resource{store: endpointSlices, kind: "EndpointSlice", version: "discovery.k8s.io/v1"})
	return a, nil
}

// resource is a kind of object that the API serves.
type resource struct {
	*store
	kind, version string
	mode          *atomic.Value // refused: no object is made or replaced; nil for never
}

// serve serves a resource at a path.
func (a *API) serve(path string, r resource) {
	a.HandleFunc("GET "+path, r.listOrWatch)
	a.HandleFunc("POST "+path, r.create)
	a.HandleFunc("GET "+path+"/{name}", r.read)
	a.HandleFunc("PUT "+path+"/{name}", r.create)
	a.HandleFunc("PATCH "+path+"/{name}", r.patch)
	a.HandleFunc("DELETE "+path+"/{name}", r.delete)
}

// ready answers with the text of a real API server, as a probe reads the list of checks.
func (a *API) ready(w http.ResponseWriter, r *http.Request) {
	switch a.readyz.Load() {
	case "hang":
		<-r.Context().Done()
	case "error":
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(
			w, "[+]ping ok\n[-]etcd failed: reason withheld\n[+]shutdown ok\nreadyz check failed\n",
		)
	case "shutdown":
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprint(w, "[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n")
	default:
		fmt.Fprint(w, "ok")
	}
}

func (a *API) setReady(w http.ResponseWriter, r *http.Request) {
	setMode(w, r, &a.readyz, "ok", "error", "shutdown", "hang")
}

// setMode takes one of the modes from the body of a request.
func setMode(w http.ResponseWriter, r *http.Request, mode *atomic.Value, modes ...string) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	word := strings.TrimSpace(string(body))
	if !slices.Contains(modes, word) {
		http.Error(w, fmt.Sprintf("%q is not one of %s", word, strings.Join(
			modes, ", ",
		)), http.StatusBadRequest)
		return
	}
	mode.Store(word)
}

func (res resource) read(w http.ResponseWriter, r *http.Request) {
	if o, ok := res.get(r.PathValue("name")); ok {
		reply(w, http.StatusOK, o)
		return
	}
	failure(w, http.StatusNotFound, "NotFound", errNotFound.Error())
}

func (res resource) create(w http.ResponseWriter, r *http.Request) {
	if res.mode != nil && res.mode.Load() == "refused" {
		failure(w, http.StatusInternalServerError, "InternalError", "no write is accepted")
		return
	}
	o, err := decode(r)
	if err != nil || o.name() == "" {
		failure(w, http.StatusBadRequest, "BadRequest", fmt.Sprintf(
			"not a %s with a name: %v", res.kind, err,
		))
		return
	}
	o["kind"], o["apiVersion"] = res.kind, res.version
	stored, err := res.put(o)
	if err != nil {
		failure(w, http.StatusInternalServerError, "InternalError", err.Error())
		return
	}
	reply(w, http.StatusCreated, stored)
}

// decode reads an object in any encoding of clients.
func decode(r *http.Request) (o object, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if r.Header.Get("Content-Type") == runtime.ContentTypeProtobuf {
		typed, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		if err != nil {
			return nil, err
		}
		if body, err = json.Marshal(typed); err != nil {
			return nil, err
		}
	}
	return o, json.Unmarshal(body, &o)
}

// patch merges a document into an object (RFC 7386). It supports no other kind of patch.
func (res resource) patch(w http.ResponseWriter, r *http.Request) {
	var change map[string]any
	if err := json.NewDecoder(r.Body).Decode(&change); err != nil ||
		r.Header.Get("Content-Type") != "application/merge-patch+json" {
		failure(w, http.StatusBadRequest, "BadRequest", fmt.Sprintf("not a merge patch: %v", err))
		return
	}
	replyStored(w)(res.merge(r.PathValue("name"), change))
}

func (res resource) delete(w http.ResponseWriter, r *http.Request) {
	replyStored(w)(res.remove(r.PathValue("name")))
}

// replyStored answers with the result of a change to the store.
func replyStored(w http.ResponseWriter) func(o object, err error) {
	return func(o object, err error) {
		switch {
		case errors.Is(err, errNotFound):
			failure(w, http.StatusNotFound, "NotFound", err.Error())
		case err != nil:
			failure(w, http.StatusInternalServerError, "InternalError", err.Error())
		default:
			reply(w, http.StatusOK, o)
		}
	}
}

func (res resource) listOrWatch(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	selected, err := selector(query.Get("labelSelector"))
	if err != nil {
		failure(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	if on, _ := strconv.ParseBool(query.Get("watch")); on {
		res.watch(w, r, selected)
		return
	}
	all, version := res.list()
	items := []object{}
	for _, o := range all {
		if selected(o) {
			items = append(items, o)
		}
	}
	reply(w, http.StatusOK, map[string]any{
		"kind": res.kind + "List", "apiVersion": res.version,
		"metadata": map[string]string{"resourceVersion": strconv.Itoa(version)}, "items": items,
	})
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// The client may have gone.
	_ = json.NewEncoder(w).Encode(body)
}

func failure(w http.ResponseWriter, code int, reason, message string) {
	reply(w, code, status(code, reason, message))
}

func status(code int, reason, message string) object {
	return object{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
		"message": message,
	}
}
