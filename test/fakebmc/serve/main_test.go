package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// free is an address of the loopback that no program has.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestRun has a command switch a machine, and read back whether it runs.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	power := filepath.Join(dir, "power")
	script := "#!/bin/sh\ncase $2 in\nstatus) cut -d' ' -f1 " + state + ";;\n" +
		"*) echo \"$2 $1 $FAKEBMC_BOOT $FAKEBMC_MODE\" >" + state + ";;\nesac\n"
	for path, text := range map[string]string{state: "off\n", power: script} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	address := free(t)
	go func() {
		o := fakebmc.Options{User: "admin", Password: "password"}
		done <- run(ctx, o, files{power: power, quirks: "{}"}, address, false)
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	post := func() (int, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+
			"/redfish/v1/Systems/1/Actions/ComputerSystem.Reset", strings.NewReader(`{"ResetType":"On"}`))
		if err != nil {
			return 0, err
		}
		req.SetBasicAuth("admin", "password")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		return resp.StatusCode, resp.Body.Close()
	}
	status, err := post()
	for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
		status, err = post()
	}
	got, _ := os.ReadFile(state)
	if err != nil || status != http.StatusNoContent || string(got) != "on 1 Hdd UEFI\n" {
		t.Errorf("%v, status %d, the command wrote %q", err, status, got)
	}
	bad := run(t.Context(), fakebmc.Options{}, files{quirks: `{"Delay":"x"}`}, address, false)
	if bad == nil || !strings.Contains(bad.Error(), "quirks") {
		t.Errorf("bad quirks: %v", bad)
	}
}
