// Package ironic asks the API of Ironic that runs on this machine. Its certificate is pinned, its
// answers are bounded in size and time, and no value that it returns has an account of a BMC.
package ironic

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/httpbasic"

	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// API is Ironic's API. It may be used by several goroutines.
type API struct {
	options Options
}

// Options are where Ironic is, and how it is known.
type Options struct {
	URL         string // https://HOST:PORT; without TLS only in tests
	Certificate string // path of Ironic's certificate in PEM: no other one is accepted
	Account     string // path of a file {"username": ..., "password": ...}
}

// New asks nothing yet. The files are read at each request, as they appear when Ironic first runs.
func New(o Options) *API { return &API{options: o} }

// The versions of the API. The oldest has the inventory of an inspection by the ramdisk; the newest
// is the last whose answers are known here.
const (
	oldest = 81
	newest = 96
)

const (
	limit   = 64 << 20         // bytes of an answer: an inventory has logs in it
	account = 64 << 10         // bytes of a file
	slow    = 75 * time.Second // an answer for which Ironic asks a BMC first
)

// Error is an answer of Ironic other than success.
type Error struct {
	Status int // of HTTP
	Text   string
}

// Error is what Ironic gave as a reason.
func (e *Error) Error() string { return fmt.Sprintf("Ironic answers %d: %s", e.Status, e.Text) }

// Refused reports whether the request would fail again. These errors pass: a node that another
// task has locked (409), an Ironic that starts or has no free worker (503), and its own faults
// (5xx). A 401 is not the fault of the request: the account changes with Ironic's database.
func (e *Error) Refused() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != http.StatusConflict &&
		e.Status != http.StatusUnauthorized && e.Status != http.StatusTooManyRequests &&
		e.Status != http.StatusRequestTimeout
}

// fault makes an Error from the library's error, whose text has the whole request.
func fault(err error) error {
	var code gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &code) {
		return err
	}
	return &Error{Status: code.Actual, Text: reason(code.Body)}
}

// reason is the text in the body of an answer. Ironic puts JSON into JSON.
func reason(body []byte) string {
	var outer struct {
		Message json.RawMessage `json:"error_message"`
	}
	var inner struct {
		Fault string `json:"faultstring"`
	}
	text := body
	if json.Unmarshal(body, &outer) == nil && len(outer.Message) > 0 {
		text = outer.Message
		var quoted string
		if json.Unmarshal(text, &quoted) == nil {
			text = []byte(quoted)
		}
		if json.Unmarshal(text, &inner) == nil && inner.Fault != "" {
			text = []byte(inner.Fault)
		}
	}
	const most = 1 << 10
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(text)), "")
}

// client is a client of the version that both sides know.
func (a *API) client(ctx context.Context) (*gophercloud.ServiceClient, error) {
	pinned, err := a.transport()
	if err != nil {
		return nil, err
	}
	user, password, err := a.account()
	if err != nil {
		return nil, err
	}
	c, err := httpbasic.NewBareMetalHTTPBasic(httpbasic.EndpointOpts{
		IronicEndpoint: a.options.URL + "/v1/", IronicUser: user,
		IronicUserPassword: password.Reveal()})
	if err != nil {
		return nil, fmt.Errorf("ask Ironic at %s: %w", a.options.URL, err)
	}
	c.HTTPClient = http.Client{Transport: pinned, Timeout: slow,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}
	version, err := negotiate(ctx, c)
	if err != nil {
		pinned.close()
		return nil, err
	}
	c.Microversion = version
	return c, nil
}

// negotiate is the newest version of the API that both sides know.
func negotiate(ctx context.Context, c *gophercloud.ServiceClient) (string, error) {
	var root struct {
		Version struct {
			Newest string `json:"version"`
			Oldest string `json:"min_version"`
		} `json:"version"`
	}
	answer, err := c.Get(ctx, c.Endpoint, &root, nil)
	if err != nil {
		return "", fault(err)
	}
	highest := answer.Header.Get("X-Openstack-Ironic-Api-Maximum-Version")
	if highest == "" {
		highest = root.Version.Newest
	}
	minor, err := strconv.Atoi(strings.TrimPrefix(highest, "1."))
	if err != nil || minor < oldest {
		return "", fmt.Errorf("the API of Ironic has the version %q, and 1.%d is needed: use an "+
			"image with a newer Ironic", highest, oldest)
	}
	return "1." + strconv.Itoa(min(minor, newest)), nil
}

// account reads the account of the API.
func (a *API) account() (user string, password secret.Text, err error) {
	text, err := readSmall(a.options.Account)
	if err != nil {
		return "", secret.Text{}, fmt.Errorf("read the account of Ironic: %w", err)
	}
	var f struct {
		Username string `json:"username"`
		Password string `json:"password"`
	}
	if json.Unmarshal(text, &f) != nil || f.Username == "" || f.Password == "" {
		return "", secret.Text{}, fmt.Errorf("%s has no user name and password of Ironic",
			a.options.Account)
	}
	return f.Username, secret.New(f.Password), nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, account))
}

// transport connects to the server that has the one certificate, whatever its names and times are:
// it is a file of this machine.
func (a *API) transport() (*bounded, error) {
	t := &http.Transport{Proxy: nil, MaxIdleConnsPerHost: 1, TLSHandshakeTimeout: 10 * time.Second,
		DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}
	if a.options.Certificate == "" {
		return &bounded{t}, nil
	}
	text, err := readSmall(a.options.Certificate)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of Ironic: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("%s has no certificate in PEM", a.options.Certificate)
	}
	want := sha256.Sum256(block.Bytes)
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: true, // the pin decides
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 ||
				sha256.Sum256(state.PeerCertificates[0].Raw) != want {
				return fmt.Errorf("%s answers with another certificate than that in %s: another "+
					"program has its port, or it runs since before the certificate was made",
					a.options.URL, a.options.Certificate)
			}
			return nil
		}}
	return &bounded{t}, nil
}

// bounded is a transport that ends answers which are too long with an error.
type bounded struct{ *http.Transport }

func (b *bounded) close() { b.CloseIdleConnections() }

// RoundTrip bounds the answer.
func (b *bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.Transport.RoundTrip(r)
	if err == nil {
		answer.Body = &body{ReadCloser: answer.Body, left: limit}
	}
	return answer, err
}

// body is an answer that ends with an error behind the limit.
type body struct {
	io.ReadCloser
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer of Ironic is longer than %d bytes", limit)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
