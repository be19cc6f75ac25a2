package qemuhost

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// KVM is nil if this machine's processor runs machines itself, or why it does not.
func KVM() error {
	cpuinfo, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return err
	}
	return kvm(string(cpuinfo), "/dev/kvm")
}

// kvm decides by the processor's flags too: a kernel may have the device for guests that are made
// for it alone.
func kvm(cpuinfo, device string) error {
	if words := strings.Fields(cpuinfo); !slices.Contains(words, "vmx") && !slices.Contains(words, "svm") {
		return errors.New("this machine's processor does not run virtual machines (it has no flag vmx or svm)")
	}
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("this machine has no KVM: %w", err)
	}
	return f.Close()
}

// accelerators are those that qemu tries, in this order.
func accelerators(kvm error) string {
	if kvm == nil {
		return "kvm:tcg"
	}
	return "tcg"
}
