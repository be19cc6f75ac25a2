package qemuhost

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestKVM needs the processor's flag and the device, of which one alone says nothing.
func TestKVM(t *testing.T) {
	none := filepath.Join(t.TempDir(), "kvm")
	for _, tt := range []struct{ name, cpuinfo, device, want, accelerators string }{
		{"Intel", "flags\t\t: fpu vmx ssse3\n", "/dev/null", "", "kvm:tcg"},
		{"AMD", "flags\t\t: fpu svm\n", "/dev/null", "", "kvm:tcg"},
		{"a device for other guests", "flags\t\t: fpu svm_lock vmxnet\n", "/dev/null", "no flag vmx or svm", "tcg"},
		{"no device", "flags\t\t: fpu vmx\n", none, "no such file", "tcg"},
	} {
		err := kvm(tt.cpuinfo, tt.device)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if got := accelerators(err); got != tt.accelerators {
			t.Errorf("%s: qemu tries %s, want %s", tt.name, got, tt.accelerators)
		}
	}
}
