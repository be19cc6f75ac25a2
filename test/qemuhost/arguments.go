package qemuhost

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// arguments are qemu's for a start by a BMC's wish.
func (h *Host) arguments(c fakebmc.Change) ([]string, error) {
	o := h.options
	disk, trap := o.Serials()
	args := []string{
		"-name", o.Name, "-machine", "q35,accel=" + accelerators(KVM()) + ",graphics=off", "-cpu", "qemu64", "-smp", "1",
		"-m", fmt.Sprint(o.MemoryMB), "-nodefaults", "-display", "none", "-vga", "none",
		// A reset ends this process, so that the next one has the boot order of then.
		"-action", "reboot=shutdown", "-qmp", "stdio",
		"-chardev", "file,id=console,append=on,path=" + h.file("console.log"), "-serial", "chardev:console",
		"-device", "virtio-rng-pci", // without entropy OVMF boots from no network
		"-drive", "if=none,id=disk,format=raw,cache=unsafe,discard=unmap,file=" + h.file("disk.raw"),
		"-drive", "if=none,id=trap,format=raw,cache=unsafe,file=" + h.file("trap.raw"),
		"-device", "virtio-blk-pci,drive=trap,serial=" + trap,
	}
	if o.UUID != "" {
		args = append(args, "-uuid", o.UUID)
	}
	card, first, cd := 3, 1, 2
	switch c.Boot {
	case "Pxe", "UefiHttp":
		card, first, cd = 1, 2, 3
	case "Cd":
		card, first, cd = 3, 2, 1
	}
	args = append(args, "-device", fmt.Sprintf("virtio-blk-pci,drive=disk,serial=%s,bootindex=%d", disk, first))
	args = append(args, h.card(c, card)...)
	if c.Media != "" {
		if err := h.fetch(c.Media); err != nil {
			return nil, fmt.Errorf("fetch what is inserted: %w", err)
		}
		args = append(args, "-drive", "if=none,id=cd,media=cdrom,readonly=on,format=raw,file="+h.file("cd.iso"),
			"-device", fmt.Sprintf("ide-cd,drive=cd,bootindex=%d", cd))
	}
	if o.Direct != "" {
		return append(args, "-kernel", h.file("kernel"), "-initrd", h.file("initramfs"), "-append", o.Direct), nil
	}
	if c.Mode == "Legacy" {
		return args, nil
	}
	return h.firmware(args)
}

// card is the network card. SeaBIOS needs qemu's own iPXE in the card: qemu knows which program fits
// the card only if none is named. OVMF boots from the network itself.
func (h *Host) card(c fakebmc.Change, index int) []string {
	o := h.options
	wire := "user,id=wire"
	if o.Card != nil {
		wire = "tap,id=wire,fd=3"
	}
	card := fmt.Sprintf("virtio-net-pci,netdev=wire,mac=%s,bootindex=%d", o.MAC, index)
	if c.Mode != "Legacy" {
		card += ",romfile="
	}
	args := []string{"-netdev", wire, "-device", card}
	if c.Boot == "UefiHttp" {
		// OVMF tries PXE first, in both families.
		for _, family := range []string{"IPv4", "IPv6"} {
			args = append(args, "-fw_cfg", "name=opt/org.tianocore/"+family+"PXESupport,string=n")
		}
	}
	return args
}

// firmware adds OVMF, and what it remembers of this machine.
func (h *Host) firmware(args []string) ([]string, error) {
	const code, empty = "/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"
	vars := h.file("vars.fd")
	if _, err := os.Stat(vars); errors.Is(err, fs.ErrNotExist) {
		content, err := os.ReadFile(filepath.Join(string(h.tools), empty))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(vars, content, 0o600); err != nil {
			return nil, err
		}
	}
	return append(args, "-drive", "if=pflash,unit=0,format=raw,readonly=on,file="+code,
		"-drive", "if=pflash,unit=1,format=raw,file="+vars), nil
}

// fetch reads an image into a file, as a BMC does with virtual media.
func (h *Host) fetch(url string) error {
	answer, err := h.options.Client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	f, err := os.Create(h.file("cd.iso"))
	if err != nil {
		return err
	}
	defer f.Close()
	const most = 1 << 30
	switch n, err := io.Copy(f, io.LimitReader(answer.Body, most)); {
	case err != nil:
		return fmt.Errorf("%s: %w", url, err)
	case n == most:
		return fmt.Errorf("%s has %d bytes or more", url, n)
	}
	return f.Close()
}
