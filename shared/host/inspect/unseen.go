package inspect

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Unseen collects what could not be inspected, each thing once. It is safe for concurrent use.
type Unseen struct {
	mu  sync.Mutex
	all []string
}

// Add notes that something could not be inspected, and why. No error notes nothing.
func (u *Unseen) Add(what string, why error) {
	if why == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if text := what + ": " + WithoutURL(why); !slices.Contains(u.all, text) {
		u.all = append(u.all, text)
	}
}

// Merge adds what another one has collected.
func (u *Unseen) Merge(other *Unseen) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all = append(u.all, other.List()...)
}

// List is what could not be inspected, in words.
func (u *Unseen) List() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string{}, u.all...)
}

// WithoutURL is an error's text without the request that Go's HTTP client puts before the reason.
func WithoutURL(err error) string {
	var request *url.Error
	if !errors.As(err, &request) {
		return err.Error()
	}
	return strings.Replace(err.Error(), request.Error(), request.Err.Error(), 1)
}
