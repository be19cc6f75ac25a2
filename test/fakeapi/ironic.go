package main

import (
	"net/http"
	"sync/atomic"
)

// Ironic is the FAKE of the provisioning service: it answers, or accepts requests and answers none.
type Ironic struct {
	*http.ServeMux
	mode atomic.Value // string: up, hang
}

// NewIronic makes one that answers.
func NewIronic() *Ironic {
	i := &Ironic{ServeMux: http.NewServeMux()}
	i.mode.Store("up")
	i.HandleFunc("PUT /fake/mode", func(w http.ResponseWriter, r *http.Request) {
		setMode(w, r, &i.mode, "up", "hang")
	})
	i.HandleFunc("GET /v1", func(w http.ResponseWriter, r *http.Request) {
		if i.mode.Load() == "hang" {
			<-r.Context().Done()
			return
		}
		reply(w, http.StatusOK, map[string]string{"id": "v1"})
	})
	return i
}
