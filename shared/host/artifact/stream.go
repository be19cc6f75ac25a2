package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
)

const (
	usualSilence = time.Minute
	// pause is the time between two attempts to resume after a broken connection.
	pause = time.Second
)

// refused is a server's answer that another attempt would not change.
type refused struct{ text string }

func (r refused) Error() string { return r.text }

// stream is the content of a file from an offset to its end, over as many connections as it takes.
// It ends with an error if nothing arrives for some time.
type stream struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	store  *Store
	from   artifact.Artifact

	body    io.ReadCloser // nil between two connections
	offset  int64         // of the next byte
	total   int64         // 0: not known
	known   bool          // the first connection was answered
	silence time.Duration
	alive   *time.Timer // ends the stream
	pause   time.Duration
	last    error // why the last connection ended
}

// open makes a stream that has sent no request yet. The caller closes it.
func (s *Store) open(ctx context.Context, a artifact.Artifact, offset int64) *stream {
	r := &stream{store: s, from: a, offset: offset, silence: s.Silence}
	if r.silence == 0 {
		r.silence = usualSilence
	}
	r.pause = min(pause, r.silence/10)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.alive = time.AfterFunc(r.silence, func() {
		r.cancel(fmt.Errorf("nothing has arrived for %s", r.silence))
	})
	return r
}

func (r *stream) Close() {
	r.alive.Stop()
	r.hangUp()
	r.cancel(nil)
}

func (r *stream) hangUp() {
	if r.body != nil {
		_ = r.body.Close() // it was only read
		r.body = nil
	}
}

// Total waits for the first answer. It is the size of the whole file, 0 if the server does not
// report it.
func (r *stream) Total() (int64, error) {
	for !r.known {
		if err := r.connect(); err != nil {
			return 0, err
		}
	}
	return r.total, nil
}

// Read reads on. After a break it asks for the rest.
func (r *stream) Read(into []byte) (n int, err error) {
	for {
		if err := r.connect(); err != nil {
			return 0, err
		}
		if r.body == nil {
			continue
		}
		n, err = r.body.Read(into)
		r.offset += int64(n)
		if n > 0 {
			r.alive.Reset(r.silence)
		}
		ended := errors.Is(err, io.EOF) && (r.total == 0 || r.offset >= r.total)
		switch {
		case n > 0 || ended:
			if err != nil && !ended {
				r.broken(err)
				err = nil
			}
			return n, err
		case err != nil:
			r.broken(err)
		}
	}
}

// broken closes a connection and keeps its error; connect pauses before it makes the next one.
func (r *stream) broken(err error) {
	r.hangUp()
	r.last = plain(err)
}

// connect asks for the rest of the file, if there is no connection. It leaves none if the attempt
// failed and another one may succeed.
func (r *stream) connect() error {
	if r.body != nil {
		return nil
	}
	if r.last != nil {
		select {
		case <-r.ctx.Done():
		case <-time.After(r.pause):
		}
	}
	if r.ctx.Err() != nil {
		return r.ended()
	}
	var err error
	if local := r.from.Local(); local != "" {
		err = r.openFile(local)
	} else {
		err = r.ask()
	}
	if errors.As(err, new(refused)) {
		return err
	}
	if err != nil {
		r.broken(err)
		return nil
	}
	r.known = true
	return nil
}

// ended is why the stream ended, with the error of the last attempt.
func (r *stream) ended() error {
	err := context.Cause(r.ctx)
	if r.last != nil && !errors.Is(r.last, context.Canceled) {
		return fmt.Errorf("%w: %w", err, r.last)
	}
	return err
}

func (r *stream) openFile(path string) error {
	f, err := openRegular(path)
	if err != nil {
		return refused{"open it on this machine: " + plain(err).Error()}
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.Seek(min(r.offset, info.Size()), io.SeekStart)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.body, r.total = f, info.Size()
	return nil
}

// ask requests the rest of the file. If the server sends the whole file again, it skips the bytes
// before the offset; the digest proves that it is the same file.
func (r *stream) ask() error {
	request, err := http.NewRequestWithContext(r.ctx, http.MethodGet, r.from.URL, nil)
	if err != nil {
		return refused{"make a request for it: " + plain(err).Error()}
	}
	request.Header.Set("Accept-Encoding", "identity")
	if r.offset > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", r.offset))
	}
	answer, err := r.store.client().Do(request)
	if err != nil {
		return err
	}
	skip, err := r.accept(answer)
	if err == nil && answer.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		r.body = http.NoBody
		return answer.Body.Close()
	}
	if r.body = answer.Body; err == nil {
		err = r.skip(skip)
	}
	if err != nil {
		r.hangUp()
	}
	return err
}

// skip reads what has arrived before.
func (r *stream) skip(bytes int64) error {
	for chunk := int64(1 << 20); bytes > 0; bytes -= chunk {
		chunk = min(chunk, bytes)
		if _, err := io.CopyN(io.Discard, r.body, chunk); err != nil {
			return err
		}
		r.alive.Reset(r.silence)
	}
	return nil
}

// accept checks an answer; skip is how many of its first bytes have arrived before.
func (r *stream) accept(answer *http.Response) (skip int64, err error) {
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
		r.total = max(answer.ContentLength, 0)
		return r.offset, nil
	case code == http.StatusPartialContent:
		first, total, ok := contentRange(answer.Header.Get("Content-Range"))
		if !ok || first != r.offset {
			return 0, refused{fmt.Sprintf("the server answers bytes %q, asked for those from %d",
				answer.Header.Get("Content-Range"), r.offset)}
		}
		r.total = total
		return 0, nil
	case code == http.StatusRequestedRangeNotSatisfiable && r.offset > 0:
		// the server has no bytes after the offset: the digest decides about those before it
		r.total = r.offset
		return 0, nil
	case code >= 500 || code == http.StatusRequestTimeout || code == http.StatusTooManyRequests:
		return 0, errors.New("the server answers " + answer.Status)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return 0, refused{"the server answers " + answer.Status + ": let this machine read it " +
			"without an account"}
	default:
		return 0, refused{"the server answers " + answer.Status + ": fix the URL"}
	}
}

// contentRange reads "bytes FIRST-LAST/TOTAL"; total is 0 if it is not known.
func contentRange(text string) (first, total int64, ok bool) {
	text, ok = strings.CutPrefix(text, "bytes ")
	span, size, whole := strings.Cut(text, "/")
	begin, end, dash := strings.Cut(span, "-")
	first, err := strconv.ParseInt(begin, 10, 64)
	last, err2 := strconv.ParseInt(end, 10, 64)
	if !ok || !whole || !dash || err != nil || err2 != nil || first < 0 || last < first {
		return 0, 0, false
	}
	if size == "*" {
		return first, 0, true
	}
	total, err = strconv.ParseInt(size, 10, 64)
	return first, total, err == nil && total > last
}

// client is the store's, or one with a bounded wait for a connection that decompresses nothing.
func (s *Store) client() *http.Client {
	if s.Client != nil {
		return s.Client
	}
	return &http.Client{Transport: &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DialContext:       (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		DisableKeepAlives: true, DisableCompression: true,
		TLSHandshakeTimeout: 30 * time.Second, MaxResponseHeaderBytes: 64 << 10,
	}}
}

// plain is an error without the URL, which may have a credential, and without a path.
func plain(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
