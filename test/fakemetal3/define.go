// Package fakemetal3 is a FAKE of metal3's operator for bare metal (baremetal-operator), of which
// Debian has no package: what that one does with the objects of a cluster's API, and with a real
// Ironic.
package fakemetal3

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// API makes one request to a cluster's API, as a client of kubeapi does.
type API interface {
	Do(ctx context.Context, method, path string, body, out any) error
}

type fields = map[string]any

// Kind is a type of objects that another program brings to the API.
type Kind struct {
	Group, Version, Kind string
	Short                []string // other names of it
	Status               bool     // it has a status of its own, with rights of its own
	Cluster              bool     // it is in no namespace
}

// BareMetalHost is metal3's. Kinds of OpenShift are written likewise.
func BareMetalHost() Kind {
	return Kind{Group: "metal3.io", Version: "v1alpha1", Kind: "BareMetalHost", Short: []string{"bmh", "bmhost"}}
}

// Define brings types to the API, and waits until it serves them. Their schemas accept everything:
// cluster/metal3 holds what is in a host.
func Define(ctx context.Context, api API, kinds ...Kind) error {
	for _, k := range kinds {
		plural := strings.ToLower(k.Kind) + "s"
		version := fields{"name": k.Version, "served": true, "storage": true,
			"schema": fields{"openAPIV3Schema": fields{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}
		if k.Status {
			version["subresources"] = fields{"status": fields{}}
		}
		names := fields{"kind": k.Kind, "plural": plural, "singular": strings.ToLower(k.Kind)}
		if len(k.Short) > 0 {
			names["shortNames"] = k.Short
		}
		scope := "Namespaced"
		if k.Cluster {
			scope = "Cluster"
		}
		crd := fields{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": fields{"name": plural + "." + k.Group},
			"spec": fields{"group": k.Group, "names": names, "scope": scope, "versions": []fields{version}}}
		if err := api.Do(ctx, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd, nil); err != nil {
			return err
		}
		path := fmt.Sprintf("/apis/%s/%s/%s", k.Group, k.Version, plural)
		for deadline := time.Now().Add(30 * time.Second); api.Do(ctx, http.MethodGet, path, nil, nil) != nil; time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				return fmt.Errorf("the API does not serve %s", path)
			}
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
	return fields{"poweredOn": on, "lastUpdated": at, "operationalStatus": "OK", "provisioning": fields{"state": to}, "operationHistory": times}
}
