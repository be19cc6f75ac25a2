package provisioning

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// Stage is a part of an installation that is measured. It ends when the last host has come to its
// end.
type Stage string

// The stages, in their order. The last two are counted from when the bootstrap machine is switched
// on, and each other one from the end of the one before.
const (
	Address     Stage = "address"   // the machine boots, and has its address on the provisioning network
	Services    Stage = "services"  // Ironic's image is pulled, and Ironic answers
	Preflight   Stage = "preflight" // the hosts and their network are checked
	Inspect     Stage = "inspect"   // hosts are enrolled, boot the ramdisk, and their disks are chosen
	Write       Stage = "write"     // the disks have image and config drive
	FirstBoot   Stage = "first-boot"
	AllReported Stage = "all-reported" // from their disks, with their Ignition documents applied
	AllOff      Stage = "all-off"      // DHCP, Ironic, the HTTP server and the address
)

// Stages lists all of them, in that order.
func Stages() []Stage {
	return []Stage{Address, Services, Preflight, Inspect, Write, FirstBoot, AllReported, AllOff}
}

// unit is what a stage's seconds are called in the benchmark's line.
func (s Stage) unit() string { return string(s) + "-s" }

// Measure has BenchmarkInstallation install so many bare machines, and returns how long each stage
// took. What it prints meanwhile goes to log.
func Measure(ctx context.Context, hosts int, log io.Writer) (map[Stage]time.Duration, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", "test", "-tags", "remote", "-v", "-timeout", "60m",
		"-run", "^$", "-bench", "^BenchmarkInstallation$", "-benchtime", "1x",
		"github.com/onprem-infra/onprem-infra/test/provisioning", "-hosts", strconv.Itoa(hosts))
	cmd.Env = append(os.Environ(), need.Require+"=1", long+"=1")
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&out, log), log
	// The group is go and its test, which ends in order. A terminal interrupts another group.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = time.Minute
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("install %d bare machines: %w", hosts, err)
	}
	return measured(out.String())
}

// measured reads the line of the benchmark.
func measured(out string) (map[Stage]time.Duration, error) {
	took := map[Stage]time.Duration{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 2 || !strings.HasPrefix(line, "BenchmarkInstallation") {
			continue
		}
		// The name and the count come first, then each figure and its unit.
		for i := 2; i+1 < len(fields); i += 2 {
			for _, s := range Stages() {
				if seconds, err := strconv.ParseFloat(fields[i], 64); err == nil && fields[i+1] == s.unit() {
					took[s] = time.Duration(seconds * float64(time.Second))
				}
			}
		}
	}
	for _, s := range Stages() {
		if _, ok := took[s]; !ok {
			return nil, fmt.Errorf("the installation's figures lack %s", s)
		}
	}
	return took, nil
}

// long is the environment variable that asks for what takes many minutes, by the value 1.
const long = "ONPREM_INFRA_LONG"
