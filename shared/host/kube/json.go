package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// mergePatch is the content type of a change by the fields that it has (RFC 7396).
const mergePatch = "application/merge-patch+json"

// Refused is an error that the same request would get again: the credentials are not accepted or
// lack the right, or the object is wrong.
type Refused struct{ error }

// Final distinguishes it from an error that passes.
func (Refused) Final() bool { return true }

// Unwrap is the API's own error.
func (r Refused) Unwrap() error { return r.error }

// Later is an answer that may be another one at another time: the API has no room for the request,
// a PodDisruptionBudget does not allow an eviction now, or the object's namespace ends.
type Later struct{ error }

// Unwrap is the API's own error.
func (l Later) Unwrap() error { return l.error }

// Why is the API's reason, with that of the budget, if it has one (DisruptionBudget among the
// causes of a refused eviction).
func (l Later) Why() string {
	var status apierrors.APIStatus
	if !errors.As(l.error, &status) {
		return l.Error()
	}
	of := status.Status()
	if of.Details != nil {
		for _, cause := range of.Details.Causes {
			if cause.Message != "" {
				return cause.Message
			}
		}
	}
	return of.Message
}

// JSON makes one request for an object, or a list of them, of a type that other programs have
// brought to the API: its answer is read into out, unless that is nil. Path begins with /api or
// /apis. Body is encoded, and a merge patch where the method is PATCH; nil is none. found is false
// if there is no such object, which is no error. It takes at most half a minute, and is not tried
// again.
func (a *API) JSON(ctx context.Context, method, path string, body, out any) (
	found bool, err error) {
	found = true
	err = a.call(ctx, schema.GroupVersion{Version: "v1"}, fmt.Sprintf("%s %s", method, path),
		func(ctx context.Context, api *rest.RESTClient) error {
			ask := api.Verb(method).RequestURI(path).MaxRetries(0).
				SetHeader("Accept", "application/json")
			if body != nil {
				text, err := json.Marshal(body)
				if err != nil {
					return err
				}
				kind := "application/json"
				if method == "PATCH" {
					kind = mergePatch
				}
				ask = ask.SetHeader("Content-Type", kind).Body(text)
			}
			answer := ask.Do(ctx)
			err := answer.Error() // with the API's reason, which Raw does not read
			if apierrors.IsNotFound(err) {
				found = false
				return nil
			}
			if err != nil || out == nil {
				return err
			}
			text, err := answer.Raw()
			if err != nil {
				return err
			}
			return json.Unmarshal(text, out)
		})
	ending := apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	if apierrors.IsTooManyRequests(err) || ending {
		return false, Later{err}
	}
	if apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsInvalid(err) ||
		apierrors.IsBadRequest(err) {
		err = Refused{err}
	}
	return found && err == nil, err
}
