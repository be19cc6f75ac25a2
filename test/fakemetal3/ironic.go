package fakemetal3

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// version of Ironic's API that today's releases of metal3's operator ask for.
const version = "1.95"

// Ironic is the API of a real Ironic.
type Ironic struct {
	URL            string // https://HOST:PORT/v1/, as IRONIC_ENDPOINT has it
	User, Password string
	Client         *http.Client
}

// node is what the operator reads of a node.
type node struct {
	UUID       string
	Name       string
	State      string `json:"provision_state"`
	Target     string `json:"target_provision_state"`
	Power      string `json:"power_state"`
	Error      string `json:"last_error"`
	Locked     string `json:"reservation"`
	Inspected  string `json:"inspection_finished_at"`
	Maintained bool   `json:"maintenance"`
	Internal   struct {
		Agent string `json:"agent_url"`
	} `json:"driver_internal_info"`
}

func (i *Ironic) do(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, i.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.SetBasicAuth(i.User, i.Password)
	request.Header.Set("X-OpenStack-Ironic-API-Version", version)
	request.Header.Set("Content-Type", "application/json")
	answer, err := i.Client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %.500s", method, path, answer.Status, text)
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, out)
}

// nodes are all nodes by name.
func (i *Ironic) nodes(ctx context.Context) (map[string]node, error) {
	var list struct{ Nodes []node }
	if err := i.do(ctx, http.MethodGet, "nodes/detail", nil, &list); err != nil {
		return nil, err
	}
	all := map[string]node{}
	for _, n := range list.Nodes {
		all[n.Name] = n
	}
	return all, nil
}

// target asks for a state.
func (i *Ironic) target(ctx context.Context, n node, target string, more fields) error {
	in := fields{"target": target}
	for key, value := range more {
		in[key] = value
	}
	return i.do(ctx, http.MethodPut, "nodes/"+n.UUID+"/states/provision", in, nil)
}

// access is Ironic's driver and how it reaches a BMC, by the URL in a host's object.
func access(bmc string, verify bool, user, password string) (driver string, info fields, err error) {
	scheme, rest, ok := strings.Cut(bmc, "://")
	at, path, _ := strings.Cut(rest, "/")
	switch {
	case ok && scheme == "redfish":
		info = fields{"redfish_address": "https://" + at, "redfish_system_id": "/" + path, "redfish_username": user, "redfish_password": password}
		if !verify {
			info["redfish_verify_ca"] = false
		}
		return "redfish", info, nil
	case ok && scheme == "ipmi":
		host, port, found := strings.Cut(at, ":")
		if !found {
			port = "623"
		}
		return "ipmi", fields{"ipmi_address": host, "ipmi_port": port, "ipmi_username": user, "ipmi_password": password}, nil
	}
	return "", nil, fmt.Errorf("the FAKE operator knows no BMC %q", bmc)
}
