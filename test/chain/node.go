package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
)

// Register makes the machine's API list a master.
func (c *Chain) Register(ctx context.Context, m *Master) error {
	return c.RegisterNode(ctx, m.Name, m.ip)
}

// RegisterNode makes the machine's API list a control plane node of which there is nothing else.
func (c *Chain) RegisterNode(ctx context.Context, name string, ip netip.Addr) error {
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"name": name, "labels": map[string]string{"node-role.kubernetes.io/master": "", "node-role.kubernetes.io/control-plane": ""}},
		"status":   map[string]any{"addresses": []map[string]string{{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": ip.String()}}},
	})
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, "/api/v1/nodes", body)
}

// Deregister removes a master from the API's list.
func (c *Chain) Deregister(ctx context.Context, m *Master) error {
	return c.call(ctx, http.MethodDelete, "/api/v1/nodes/"+m.Name, nil)
}

// Readyz sets what the fake API answers: ok, error, shutdown or hang.
func (c *Chain) Readyz(ctx context.Context, mode string) error {
	return c.call(ctx, http.MethodPut, "/fake/readyz", []byte(mode))
}

// ConfigMaps sets whether the fake API takes changes of ConfigMaps: accepted or refused.
func (c *Chain) ConfigMaps(ctx context.Context, mode string) error {
	return c.call(ctx, http.MethodPut, "/fake/writes", []byte(mode))
}

// Put makes the fake API hold an object at a path, as another program of the cluster does.
func (c *Chain) Put(ctx context.Context, path string, object map[string]any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPut, path, body)
}

// call speaks to the fake API server by the machine's own address, so that it does not matter who
// holds the VIP.
func (c *Chain) call(ctx context.Context, method, path string, body []byte) error {
	address := netip.AddrPortFrom(BootstrapIP, 6443)
	request, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("https://%s%s", address, path), bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer, err := c.Client(0).Do(request)
	if err != nil {
		return fmt.Errorf("fake API: %w", err)
	}
	if answer.StatusCode >= 300 {
		err = fmt.Errorf("fake API: %s %s: %s", method, path, answer.Status)
	}
	answer.Body.Close()
	return err
}
