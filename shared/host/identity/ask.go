package identity

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"

	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
)

// most is far above the size of an answer that is asked for here, in bytes.
const most = 1 << 20

// Asker asks the Ironic of this machine. It speaks to the program that shows the certificate of
// Files and to no other, and through no proxy. It is for one goroutine.
type Asker struct {
	Files Files
	Host  string // localhost or an address of this machine, at which Ironic listens
	Port  uint16

	client *http.Client
	known  []byte // the certificate of client
}

// Answers returns an error unless the API answers a request that needs no account.
func (a *Asker) Answers(ctx context.Context) error {
	_, err := a.get(ctx, "/v1", nil)
	return err
}

// Drivers are the drivers that a conductor serves, sorted.
func (a *Asker) Drivers(ctx context.Context) ([]string, error) {
	account, err := a.Files.Credentials()
	if err != nil {
		return nil, err
	}
	body, err := a.get(ctx, "/v1/drivers", &account)
	if err != nil {
		return nil, err
	}
	return readDrivers(body)
}

var errDrivers = errors.New("read Ironic's drivers: the answer is no list of them")

func readDrivers(body []byte) ([]string, error) {
	var list struct {
		Drivers *[]struct {
			Name  string   `json:"name"`
			Hosts []string `json:"hosts"`
		} `json:"drivers"`
	}
	if json.Unmarshal(body, &list) != nil || list.Drivers == nil {
		return nil, errDrivers
	}
	var names []string
	for _, d := range *list.Drivers {
		if d.Name != "" && len(d.Hosts) > 0 {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (a *Asker) get(ctx context.Context, path string, as *Account) ([]byte, error) {
	if err := a.trust(); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"https://"+net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))+path, nil)
	if err != nil {
		return nil, err
	}
	if as != nil {
		request.SetBasicAuth(as.Username, as.Password.Reveal())
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return nil, plain(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, most))
	switch {
	case err != nil:
		return nil, plain(err)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %d", request.URL, answer.StatusCode)
	}
	return body, nil
}

// trust makes a client for the present certificate.
func (a *Asker) trust() error {
	text, err := os.ReadFile(a.Files.Certificate)
	if err != nil {
		return fmt.Errorf("read Ironic's certificate: %w", err)
	}
	if a.client != nil && string(text) == string(a.known) {
		return nil
	}
	roots, err := a.Files.Roots()
	if err != nil {
		return err
	}
	a.known, a.client = text, &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
		Transport: &http.Transport{DialContext: localhost.Dial,
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}},
	}
	return nil
}

// plain drops what differs at each attempt, such as the local port: equal failures have equal
// texts, so that they are logged once.
func plain(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		op.Source = nil
	}
	return err
}
