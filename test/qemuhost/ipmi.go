package qemuhost

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// emulated is a BMC without sensors, as ipmi_sim reads it.
const emulated = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
sel_enable 0x20 1000 0x0a
mc_enable 0x20
`

// listening is a file of ipmi_lan(5): where the BMC is reached, its users, and what it runs to
// switch the machine.
const listening = `name "host"
set_working_mc 0x20
  startlan 1
    addr %s %d
    priv_limit admin
    allowed_auths_callback none md2 md5 straight
    allowed_auths_user none md2 md5 straight
    allowed_auths_operator none md2 md5 straight
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "%s"
  user 1 true "" "test" user 10 none md2 md5 straight
  user 2 true "%s" "%s" admin 10 none md2 md5 straight
`

// asking hands the request of ipmi_sim over, and its answer back: to wait for the end of the answer,
// and not of the file, it reads a line. Some releases name the controller first.
const asking = `#!/bin/sh
case $1 in 0x*) shift ;; esac
echo "$*" >"%[1]s/ask"
read -r answer <"%[1]s/answer"
case $answer in
failed) exit 1 ;;
done) ;;
*) echo "$answer" ;;
esac
`

// IPMI is the BMC of a machine that speaks IPMI: ipmi_sim of OpenIPMI.
type IPMI struct {
	host        *Host
	log         *slog.Logger
	cmd         *exec.Cmd
	ask, answer *os.File
	done        sync.WaitGroup
	boot        string // for the next start only
}

// OpenIPMI starts a BMC at an address of the network in which start runs what it is given. Close
// ends it.
func (h *Host) OpenIPMI(program string, at netip.AddrPort, start func(func() error) error) (_ *IPMI, err error) {
	dir := h.file("ipmi")
	b := &IPMI{host: h, log: h.options.Log, boot: "default"}
	err = errors.Join(os.MkdirAll(filepath.Join(dir, "state"), 0o700),
		os.WriteFile(filepath.Join(dir, "bmc.emu"), []byte(emulated), 0o600),
		os.WriteFile(filepath.Join(dir, "ask.sh"), []byte(fmt.Sprintf(asking, dir)), 0o700),
		os.WriteFile(filepath.Join(dir, "lan.conf"), []byte(fmt.Sprintf(listening, at.Addr(), at.Port(),
			filepath.Join(dir, "ask.sh"), User, Password)), 0o600))
	if err != nil {
		return nil, err
	}
	for _, pipe := range []struct {
		name string
		file **os.File
	}{{"ask", &b.ask}, {"answer", &b.answer}} {
		path := filepath.Join(dir, pipe.name)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			return nil, errors.Join(err, b.closePipes())
		}
		// Open for both ways: neither end waits for the other, and none ends it.
		if *pipe.file, err = os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err != nil {
			return nil, errors.Join(err, b.closePipes())
		}
	}
	out, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, errors.Join(err, b.closePipes())
	}
	defer out.Close()
	b.cmd = exec.Command(program, "-n", "-c", filepath.Join(dir, "lan.conf"), "-f", filepath.Join(dir, "bmc.emu"), "-s", filepath.Join(dir, "state"))
	b.cmd.Stdout, b.cmd.Stderr = out, out
	if err := start(b.cmd.Start); err != nil {
		return nil, errors.Join(err, b.closePipes())
	}
	b.done.Go(b.serve)
	return b, nil
}

func (b *IPMI) closePipes() error {
	var errs []error
	for _, f := range []*os.File{b.ask, b.answer} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}

// Close ends the BMC, not the machine.
func (b *IPMI) Close() error {
	_ = b.cmd.Process.Kill() // it may have ended
	_ = b.cmd.Wait()         // it was killed
	err := b.closePipes()
	b.done.Wait()
	return err
}

// serve answers requests until the pipes are closed.
func (b *IPMI) serve() {
	lines := bufio.NewScanner(b.ask)
	for lines.Scan() {
		began := time.Now()
		answer, err := b.handle(strings.Fields(lines.Text()))
		b.log.Info("IPMI", "request", lines.Text(), "answer", answer, "err", err, "took", time.Since(began))
		if err != nil {
			answer = "failed"
		}
		if _, err := io.WriteString(b.answer, answer+"\n"); err != nil {
			return
		}
	}
}

// sources are what ipmi_sim calls the devices to boot from.
var sources = map[string]string{"none": "Hdd", "default": "Hdd", "pxe": "Pxe", "cdrom": "Cd"}

// handle does what ipmi_sim asks: "get power", "set boot pxe" and so on.
func (b *IPMI) handle(words []string) (string, error) {
	words = append(words, "", "", "")
	on := func() error {
		from := b.boot
		b.boot = "default"
		return b.host.Power(fakebmc.Change{On: true, Boot: sources[from], Mode: b.host.mode()})
	}
	var err error
	switch what := strings.Join(words[:3], " "); {
	case strings.HasPrefix(what, "get power"):
		if b.host.IsOn() {
			return "power:1", nil
		}
		return "power:0", nil
	case strings.HasPrefix(what, "get boot"):
		return "boot:" + b.boot, nil
	case what == "set power 1":
		if !b.host.IsOn() {
			err = on()
		}
	case what == "set power 0":
		err = b.host.Power(fakebmc.Change{})
	case strings.HasPrefix(what, "set reset"):
		if err = b.host.Power(fakebmc.Change{}); err == nil {
			err = on()
		}
	case strings.HasPrefix(what, "set shutdown"):
		err = b.host.Power(fakebmc.Change{Graceful: true})
	case strings.HasPrefix(what, "set boot "):
		if sources[words[2]] == "" {
			return "", fmt.Errorf("there is no boot source %q", words[2])
		}
		b.boot = words[2]
	default:
		return "", fmt.Errorf("unknown request %q", what)
	}
	return "done", err
}
