// Package wire reads single documents of a Redfish service and trusts none of them: it bounds their
// size, time and number, takes values of a wrong type as empty, and judges the certificate.
package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The bounds of what is read of one BMC.
const (
	maxBytes     = 1 << 20          // of a document
	maxDocuments = 64               // in all; those that matter most come first
	perDocument  = 10 * time.Second // from the request to the last byte

	// MaxMembers is how many members of a list are read.
	MaxMembers = 32
)

// Refusal is an answer with another status than OK.
type Refusal struct {
	Status  int
	id      string // of the first message, such as Base.1.8.SessionLimitExceeded
	message string
}

func (r *Refusal) Error() string {
	words := fmt.Sprintf("answers %d %s", r.Status, http.StatusText(r.Status))
	if r.id != "" || r.message != "" {
		words += ": " + strings.TrimSpace(r.id+" "+r.message)
	}
	return words
}

// ErrForeign marks an answer that no Redfish service gives.
var ErrForeign = errors.New("is no Redfish service's answer")

// Options are where the service is and how to log in.
type Options struct {
	URL      string // https://HOST:PORT
	Username string
	Password func() string
	Verify   Verify
	Timeout  time.Duration    // of a document; 0 for 10 s
	Now      func() time.Time // nil: the clock of this host
}

// Secret is the password, empty if there is none.
func (o Options) Secret() string {
	if o.Password == nil {
		return ""
	}
	return o.Password()
}

// Basic is the user and the password, encoded for HTTP's Basic authentication.
func (o Options) Basic() string {
	return base64.StdEncoding.EncodeToString([]byte(o.Username + ":" + o.Secret()))
}

// Client sends GET requests to one BMC. It is for one goroutine.
type Client struct {
	options Options
	base    *url.URL
	http    *http.Client
	trust   *trust
	sent    int
	login   bool  // whether credentials are sent
	refused error // the answer to a refused login
	date    time.Time
}

// New makes a client, which is to be closed.
func New(o Options) (*Client, error) {
	// The address is in no error: a user may have put the password into it.
	base, err := url.Parse(o.URL)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http":
		return nil, errors.New("the address is none: want https://HOST:PORT")
	case base.User != nil:
		return nil, errors.New("the address has a user: credentials belong in fields of their own")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Client{options: o, base: base}
	c.trust = &trust{verify: o.Verify, host: base.Hostname(), now: o.Now}
	c.http = &http.Client{
		Transport: &http.Transport{
			TLSClientConfig: c.trust.config(), MaxConnsPerHost: 1, DisableCompression: true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case req.URL.Host != base.Host || req.URL.Scheme != base.Scheme:
				return fmt.Errorf("it redirects to another host: %w", ErrForeign)
			case len(via) > 2:
				return fmt.Errorf("it redirects without end: %w", ErrForeign)
			}
			c.sent++
			return nil
		},
	}
	return c, nil
}

// Close closes the client's connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Sent is how many requests were sent.
func (c *Client) Sent() int { return c.sent }

// Refused is the answer to a login that was refused, or nil.
func (c *Client) Refused() error { return c.refused }

// Date is the BMC's clock in the first answer that has it; zero if none has.
func (c *Client) Date() time.Time { return c.date }

// Chain is the certificate that the BMC presented, nil for none.
func (c *Client) Chain() *Chain { return c.trust.seen() }

// Login sends the credentials with each further request, and only to the certificate that is
// trusted. It reports false and sends none if the present one is not.
func (c *Client) Login() bool {
	c.login = c.trust.require()
	return c.login
}

// Get reads one document. It sends nothing after a refused login: BMCs lock accounts after a few.
func (c *Client) Get(ctx context.Context, p string, into any) error {
	if c.refused != nil {
		return c.refused
	}
	if c.sent >= maxDocuments {
		return fmt.Errorf("is not read after %d documents", maxDocuments)
	}
	target, err := c.resolve(p)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.options.Timeout, perDocument))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return fmt.Errorf("%q is no path", Printable(p))
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("OData-Version", "4.0")
	if c.login {
		req.Header.Set("Authorization", "Basic "+c.options.Basic())
	}
	c.sent++
	resp, err := c.http.Do(req)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			return wrapped.Err // without the address, which the caller knows
		}
		return err
	}
	defer resp.Body.Close()
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil && c.date.IsZero() {
		c.date = at
	}
	err = decode(resp, into)
	if r := (*Refusal)(nil); errors.As(err, &r) && c.login && r.Status == http.StatusUnauthorized {
		c.refused = err
	}
	return err
}

// resolve is the address of a document of this BMC.
func (c *Client) resolve(p string) (string, error) {
	ref, err := url.Parse(p)
	if err != nil || !strings.HasPrefix(p, "/") || ref.Host != "" {
		return "", fmt.Errorf("%q is no path", Printable(p))
	}
	return c.base.ResolveReference(&url.URL{Path: ref.Path, RawPath: ref.RawPath}).String(), nil
}

// decode reads an answer within its bound.
func decode(resp *http.Response, into any) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBytes+1))
	switch {
	case resp.StatusCode != http.StatusOK:
		return refused(resp.StatusCode, body)
	case len(body) > maxBytes:
		return fmt.Errorf("has more than %d bytes: %w", maxBytes, ErrForeign)
	case err != nil:
		return fmt.Errorf("read the answer: %w", err)
	}
	if !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
		return fmt.Errorf("is %s instead of JSON: %w", Printable(kind), ErrForeign)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("is broken JSON: %w", ErrForeign)
	}
	return nil
}

func refused(status int, body []byte) error {
	var document struct {
		Error Loose[struct {
			Message  Text                                    `json:"message"`
			Extended List[struct{ MessageId, Message Text }] `json:"@Message.ExtendedInfo"`
		}] `json:"error"`
	}
	r := &Refusal{Status: status}
	if json.Unmarshal(body, &document) == nil {
		r.message = string(document.Error.V.Message)
		if extended := document.Error.V.Extended; len(extended) > 0 {
			r.id, r.message = string(extended[0].MessageId), string(extended[0].Message)
		}
	}
	return r
}
