package podvip

import (
	"encoding/binary"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// TestMarks writes what an image and a config drive leave on a disk, and wipes one part after the
// other: each one alone is seen.
func TestMarks(t *testing.T) {
	need.Root(t)
	need.Command(t, "debootstrap")
	host, err := qemuhost.New(t.Context(), qemuhost.Options{Name: "w2", Dir: t.TempDir(), DiskMB: 64, TrapMB: 8, Log: slog.Default()})
	if err != nil {
		need.Missing(t, "needs qemu: "+err.Error())
	}
	m := &machine{Host: host, name: "w2"}
	if marks, err := m.marks(); err != nil || len(marks) > 0 {
		t.Fatalf("an empty disk has %v, %v", marks, err)
	}
	write := func(text string, at int64) {
		t.Helper()
		disk, err := os.OpenFile(m.Disk(), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer disk.Close()
		if _, err := disk.WriteAt([]byte(text), at); err != nil {
			t.Fatal(err)
		}
	}
	write("EFI PART", sector)
	write("EFI PART", 64<<20-sector)
	for i, start := range []uint64{2048, 4096, 20480, 100000} { // GRUB, ESP, root, config drive
		entry := make([]byte, 128)
		binary.LittleEndian.PutUint64(entry[32:], start)
		write(string(entry), int64(2*sector+i*128))
	}
	write("\x55\xaa", 4096*sector+510)
	write("\x53\xef", 20480*sector+1080)
	write("CD001", 100000*sector+32769)
	all, err := m.marks()
	if err != nil || len(all) != inUse {
		t.Fatalf("it has %v, %v", all, err)
	}
	for i, s := range all {
		write(string(make([]byte, len(s.text))), s.at)
		var want []string
		for _, rest := range all[i+1:] {
			want = append(want, rest.name)
		}
		if left, err := m.left(all); err != nil || !slices.Equal(left, want) {
			t.Errorf("without %s it has %q, %v; want %q", s.name, left, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(m.Disk()), "console.log")); err == nil {
		t.Error("it was started")
	}
}

// TestStrays finds the answers of which a machine must get none.
func TestStrays(t *testing.T) {
	at := time.Now()
	holders := []lab.Span{{From: at, To: at.Add(time.Minute), Holders: []string{"m1"}}, {From: at.Add(time.Minute), To: at.Add(time.Hour), Holders: []string{"m2"}}}
	reply := func(by string, after time.Duration, server, address string) answer {
		d, err := dhcpv4.New(dhcpv4.WithMessageType(dhcpv4.MessageTypeAck), dhcpv4.WithYourIP(net.ParseIP(address)), dhcpv4.WithServerIP(net.ParseIP(server)),
			dhcpv4.WithOption(dhcpv4.OptServerIdentifier(net.ParseIP(server))))
		if err != nil {
			t.Fatal(err)
		}
		return answer{d, at.Add(after), by}
	}
	const own = "172.22.0.20"
	for name, tt := range map[string]struct {
		answer answer
		stray  bool
	}{
		"the holder":            {reply("m1", time.Second, provisioningVIP, own), false},
		"the next holder":       {reply("m2", 2*time.Minute, provisioningVIP, own), false},
		"the former holder":     {reply("m1", 2*time.Minute, provisioningVIP, own), true},
		"before anyone held it": {reply("m1", -time.Second, provisioningVIP, own), true},
		"another machine":       {reply("52:54:00:00:00:01", time.Second, provisioningVIP, own), true},
		"another server":        {reply("m1", time.Second, "172.22.0.2", own), true},
		"another address":       {reply("m1", time.Second, provisioningVIP, "172.22.0.21"), true},
	} {
		if got := strays([]answer{tt.answer}, holders, own); (len(got) > 0) != tt.stray {
			t.Errorf("%s: %q", name, got)
		}
	}
}
