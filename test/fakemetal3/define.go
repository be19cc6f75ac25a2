// Package fakemetal3 is for tests in which the operators of bare metal hosts are FAKE, as they act
// on many hosts in seconds: the types that the operators bring to an API, those of metal3 as its release
// has them, and what metal3's operator notes in a host.
package fakemetal3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/test/cache"
)

// API makes one request to a cluster's API, as a client of kubeapi does.
type API interface {
	Do(ctx context.Context, method, path string, body, out any) error
}

type fields = map[string]any

// Kind is a type of objects that another program brings to the API.
type Kind struct {
	Group, Version, Kind string
	Cluster              bool // it is in no namespace
}

// Publish brings metal3's types to the API, as its operator's release has them: the API refuses what
// their schemas do not know.
func Publish(ctx context.Context, api API) error {
	dir, err := cache.Metal3Config(ctx)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "crds", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no types in %s: %w", dir, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var crd struct {
			Spec struct {
				Group    string
				Names    struct{ Plural string }
				Versions []struct{ Name string }
			}
		}
		var whole fields
		if err := errors.Join(yaml.Unmarshal(text, &crd), yaml.Unmarshal(text, &whole)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := serve(ctx, api, whole, fmt.Sprintf("/apis/%s/%s/%s", crd.Spec.Group, crd.Spec.Versions[0].Name, crd.Spec.Names.Plural)); err != nil {
			return err
		}
	}
	return nil
}

// Define brings types to the API, and waits until it serves them. They are those of operators of
// which no schema is at hand: theirs accept everything.
func Define(ctx context.Context, api API, kinds ...Kind) error {
	for _, k := range kinds {
		plural := strings.ToLower(k.Kind) + "s"
		version := fields{"name": k.Version, "served": true, "storage": true,
			"schema": fields{"openAPIV3Schema": fields{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
		names := fields{"kind": k.Kind, "plural": plural, "singular": strings.ToLower(k.Kind)}
		scope := "Namespaced"
		if k.Cluster {
			scope = "Cluster"
		}
		crd := fields{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": fields{"name": plural + "." + k.Group},
			"spec": fields{"group": k.Group, "names": names, "scope": scope, "versions": []fields{version}}}
		if err := serve(ctx, api, crd, fmt.Sprintf("/apis/%s/%s/%s", k.Group, k.Version, plural)); err != nil {
			return err
		}
	}
	return nil
}

// serve has the API serve a type, and waits until it serves a path of it.
func serve(ctx context.Context, api API, crd fields, path string) error {
	if err := api.Do(ctx, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd, nil); err != nil {
		return err
	}
	for deadline := time.Now().Add(30 * time.Second); api.Do(ctx, http.MethodGet, path, nil, nil) != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("the API does not serve %s", path)
		}
	}
	return nil
}

// operations are the keys of metal3's operationHistory, by the state in which each goes on.
var operations = map[string]string{"registering": "register", "inspecting": "inspect", "provisioning": "provision", "deprovisioning": "deprovision"}

// Transition is the status of a host that goes from one state to another, or stays in it, with the
// times that metal3's operator notes.
func Transition(from, to string, on bool, now time.Time) map[string]any {
	at, times := now.UTC().Format(time.RFC3339), fields{}
	if to != from {
		if ended := operations[from]; ended != "" {
			times[ended] = fields{"end": at}
		}
		if begun := operations[to]; begun != "" {
			times[begun] = fields{"start": at, "end": nil}
		}
	}
	return fields{"poweredOn": on, "lastUpdated": at, "operationalStatus": "OK", "errorMessage": "", "provisioning": fields{"state": to, "ID": ""}, "operationHistory": times}
}
