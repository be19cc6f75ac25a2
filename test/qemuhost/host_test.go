package qemuhost

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/debian"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/need"
)

func logger() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// machine is one of which no qemu is started.
func machine(t *testing.T, legacy bool) *Host {
	t.Helper()
	o := Options{Name: "m", MAC: "52:54:00:22:00:01", UUID: "11111111-1111-4111-8111-111111111101", Legacy: legacy, Dir: t.TempDir(), MemoryMB: 512, DiskMB: 64, Log: logger(), Client: http.DefaultClient}
	tools := t.TempDir()
	vars := filepath.Join(tools, "usr/share/OVMF/OVMF_VARS_4M.fd")
	if err := os.MkdirAll(filepath.Dir(vars), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(vars, []byte("vars"), 0o644); err != nil {
		t.Fatal(err)
	}
	return &Host{options: o, tools: debian.Root(tools)}
}

// TestArguments holds what a machine starts from: the lowest index is first.
func TestArguments(t *testing.T) {
	iso := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/cd.iso" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "image")
	}))
	defer iso.Close()
	for _, tt := range []struct {
		name        string
		change      fakebmc.Change
		has, hasNot []string
	}{
		{"disk, BIOS", fakebmc.Change{Boot: "Hdd", Mode: "Legacy"}, []string{"serial=disk-m,bootindex=1", "bootindex=3"}, []string{"romfile", "pflash", "ide-cd"}},
		{"network, BIOS", fakebmc.Change{Boot: "Pxe", Mode: "Legacy"}, []string{"serial=disk-m,bootindex=2", "mac=52:54:00:22:00:01,bootindex=1"}, []string{"romfile", "pflash"}},
		{"network, UEFI", fakebmc.Change{Boot: "Pxe", Mode: "UEFI"}, []string{"bootindex=1,romfile= ", "unit=1,format=raw,file="}, []string{"PXESupport"}},
		{"HTTP, UEFI", fakebmc.Change{Boot: "UefiHttp", Mode: "UEFI"}, []string{"bootindex=1,romfile= ", "IPv4PXESupport,string=n"}, nil},
		{"CD, UEFI", fakebmc.Change{Boot: "Cd", Mode: "UEFI", Media: iso.URL + "/cd.iso"}, []string{"ide-cd,drive=cd,bootindex=1", "serial=disk-m,bootindex=2"}, nil},
	} {
		h := machine(t, false)
		args, err := h.arguments(tt.change)
		line := strings.Join(args, " ")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		for _, want := range tt.has {
			if !strings.Contains(line, want) {
				t.Errorf("%s: %s, want %q in it", tt.name, line, want)
			}
		}
		for _, bad := range append(tt.hasNot, "serial=trap-m,bootindex") {
			if strings.Contains(line, bad) {
				t.Errorf("%s: %s, want no %q in it", tt.name, line, bad)
			}
		}
	}
	h := machine(t, false)
	if _, err := h.arguments(fakebmc.Change{Boot: "Cd", Media: iso.URL + "/other.iso"}); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("an image that is not there: %v", err)
	}
}

// TestIPMI_Requests has the requests of ipmi_sim that switch no machine on.
func TestIPMI_Requests(t *testing.T) {
	b := &IPMI{host: machine(t, true), log: logger(), boot: "default"}
	for _, tt := range []struct{ request, want string }{
		{"get power", "power:0"}, {"get boot", "boot:default"}, {"set boot pxe", "done"}, {"get boot", "boot:pxe"},
		{"set boot tape", ""}, {"get boot", "boot:pxe"}, {"set power 0", "done"}, {"set shutdown 1", "done"}, {"nudge", ""}, {"", ""},
	} {
		got, err := b.handle(strings.Fields(tt.request))
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %q, %v, want %q", tt.request, got, err, tt.want)
		}
	}
}

// sectors is a disk that starts by BIOS: it writes its letters to the serial line, and then resets
// the machine by the keyboard controller or stops the processor.
func sectors(text string, reset bool) []byte {
	code := []byte{0xba, 0xf8, 0x03} // mov dx, 3f8h
	for _, c := range []byte(text) {
		code = append(code, 0xb0, c, 0xee) // mov al, c; out dx, al
	}
	if reset {
		code = append(code, 0xb0, 0xfe, 0xe6, 0x64) // mov al, feh; out 64h, al
	}
	code = append(code, 0xf4, 0xeb, 0xfd) // hlt; jmp to it
	sector := make([]byte, 512)
	copy(sector, code)
	sector[510], sector[511] = 0x55, 0xaa
	return sector
}

// TestLongPower drives a machine through its BMC by a disk that resets it: an override that counts
// once is gone at the second start. It has no network of this machine.
func TestLongPower(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("makes qemu")
	}
	need.Root(t)
	need.Command(t, "debootstrap")
	h, err := New(t.Context(), Options{Name: "m", MAC: "52:54:00:22:00:01", Legacy: true, Dir: t.TempDir(), MemoryMB: 256, DiskMB: 16, TrapMB: 64, Log: logger()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	bmc := h.BMC()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, l, bmc) }()
	defer func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	system := "http://" + l.Addr().String() + "/redfish/v1/Systems/1"
	call := func(method, url, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth(User, Password)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusNoContent {
			t.Fatalf("%s %s %s: %s", method, url, body, answer.Status)
		}
	}
	if err := os.WriteFile(h.file("disk.raw"), append(sectors("one ", true), make([]byte, 1<<20)...), 0o600); err != nil {
		t.Fatal(err)
	}
	call("PATCH", system, `{"Boot":{"BootSourceOverrideTarget":"Pxe","BootSourceOverrideEnabled":"Once"}}`)
	call("POST", system+"/Actions/ComputerSystem.Reset", `{"ResetType":"On"}`)
	// qemu's own network answers DHCP, and has no boot file: the firmware goes on with the disk.
	waitFor(t, "a second start", func() bool { return len(h.Starts()) >= 2 })
	call("POST", system+"/Actions/ComputerSystem.Reset", `{"ResetType":"ForceOff"}`)
	starts := h.Starts()
	if starts[0].Boot != "Pxe" || starts[1].Boot != "Hdd" || h.IsOn() || !strings.Contains(h.Console(), "one ") {
		t.Errorf("started from %+v, on: %v, console:\n%s", starts, h.IsOn(), h.Console())
	}
	if whole, err := h.TrapIsWhole(); err != nil || !whole {
		t.Errorf("the trap is whole: %v, %v", whole, err)
	}
	for name, write := range map[string][]byte{"nothing": make([]byte, 64<<20), "much": bytes.Repeat([]byte("x"), 65<<20)} {
		if err := os.WriteFile(h.TrapDisk(), write, 0o600); err != nil {
			t.Fatal(err)
		}
		if whole, err := h.TrapIsWhole(); err != nil || whole {
			t.Errorf("a trap with %s in it is whole: %v, %v", name, whole, err)
		}
	}
	t.Logf("%s", h.Errors())
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > 5*time.Minute {
			t.Fatalf("no %s in %v", what, time.Since(began))
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("%s after %v", what, time.Since(began).Round(100*time.Millisecond))
}
