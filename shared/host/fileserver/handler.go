package fileserver

import (
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
)

// handler answers the requests of one port.
type handler struct {
	*Server
	root   *os.Root
	secure bool
}

// selfHeader marks a question of the server to itself, and its answer.
const selfHeader = "Onprem-Self"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	sent := &sending{ResponseWriter: w, control: http.NewResponseController(w),
		within: h.takeChunk, status: http.StatusOK}
	name := nameOf(r.URL.Path)
	own := r.Header.Get(selfHeader) == h.self
	if own {
		w.Header().Set(selfHeader, "yes")
	}
	defer func() { // also after an end of the handler that closes the connection
		if own {
			return
		}
		now := time.Now()
		h.Ended(access.Access{At: now, Client: clientOf(r.RemoteAddr), TLS: h.secure,
			Method: method(r.Method), File: name, Status: sent.status, Bytes: sent.bytes,
			Took: now.Sub(began), Broken: sent.failed})
	}()
	if r.ContentLength != 0 { // the body is not read
		w.Header().Set("Connection", "close")
		_ = sent.control.SetReadDeadline(now(time.Second)) // else the wait for it has no bound
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(sent, "only GET and HEAD are answered", http.StatusMethodNotAllowed)
		return
	}
	h.file(sent, r, name)
}

func now(plus time.Duration) time.Time { return time.Now().Add(plus) }

// method is a client's method, if it is one of a known few.
func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete:
		return m
	}
	return "OTHER"
}

func (h *handler) file(w *sending, r *http.Request, name string) {
	f, info, verdict := h.find(name)
	if f != nil {
		defer f.Close()
	}
	switch verdict {
	case Hidden:
		http.Error(w, "there is no such file", http.StatusNotFound)
		return
	case Later:
		w.Header().Set("Retry-After", "5")
		http.Error(w, "the file is not ready yet", http.StatusServiceUnavailable)
		return
	}
	kind := mime.TypeByExtension(path.Ext(name))
	if path.Ext(name) == ".ipxe" || kind == "" {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// find opens a file. Its name, and the name to which links lead, must both be served. A name that
// leads out of the root is Hidden, like that of a file that does not exist.
func (h *handler) find(name string) (*os.File, fs.FileInfo, Verdict) {
	if name == "" {
		return nil, nil, Hidden
	}
	if v := h.Judge(name, h.secure); v != Served {
		return nil, nil, v
	}
	real, err := filepath.EvalSymlinks(filepath.Join(h.Root, name))
	if err != nil {
		return nil, nil, Hidden
	}
	top, err := filepath.EvalSymlinks(h.Root)
	if err != nil {
		return nil, nil, Hidden
	}
	behind, below := strings.CutPrefix(real, top+"/")
	if !below || nameOf(behind) == "" {
		return nil, nil, Hidden
	}
	if v := h.Judge(behind, h.secure); v != Served {
		return nil, nil, v
	}
	// A link made since cannot lead out of an os.Root; O_NONBLOCK does not wait for a pipe.
	f, err := h.root.OpenFile(behind, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, Hidden
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		_ = f.Close() // it was not read
		return nil, nil, Hidden
	}
	return f, info, Served
}

// nameOf is the name of a file below the root; empty if a path names none, or a hidden one.
func nameOf(text string) string {
	const most = 1024
	clean := path.Clean("/" + text)
	if len(text) > most || strings.HasSuffix(text, "/") || strings.ContainsRune(text, 0) ||
		strings.Contains(clean, "/.") {
		return ""
	}
	return clean[1:]
}

// sending counts what a client has got, and ends a connection whose client takes nothing any more.
type sending struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration // of a chunk
	status  int
	bytes   int64
	failed  bool
}

// chunk is how many bytes a client must take within sending.within; else it is cut off.
const chunk = 1 << 20

func (s *sending) WriteHeader(status int) {
	s.status = status
	s.extend()
	s.ResponseWriter.WriteHeader(status)
}

func (s *sending) extend() {
	if err := s.control.SetWriteDeadline(now(s.within)); err != nil {
		s.failed = true
	}
}

func (s *sending) Write(text []byte) (n int, err error) {
	for len(text) > 0 && err == nil {
		var m int
		s.extend()
		m, err = s.ResponseWriter.Write(text[:min(len(text), chunk)])
		text, n = text[m:], n+m
	}
	s.count(int64(n), err)
	return n, err
}

func (s *sending) count(n int64, err error) {
	s.bytes += n
	s.failed = s.failed || err != nil
}

// ReadFrom has the kernel copy from a file, chunk by chunk.
func (s *sending) ReadFrom(from io.Reader) (n int64, err error) {
	limit, ok := from.(*io.LimitedReader)
	if !ok {
		limit = &io.LimitedReader{R: from, N: 1<<63 - 1}
	}
	to, ok := s.ResponseWriter.(io.ReaderFrom)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	for limit.N > 0 {
		s.extend()
		part := &io.LimitedReader{R: limit.R, N: min(limit.N, chunk)}
		m, err := to.ReadFrom(part)
		n += m
		limit.N -= m
		s.count(m, err)
		if err != nil || m == 0 {
			return n, err
		}
	}
	return n, nil
}
