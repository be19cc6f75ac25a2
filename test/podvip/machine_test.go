package podvip

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// machine is a worker that is a bare machine in qemu, off and with an empty disk, and its FAKE BMC.
type machine struct {
	*qemuhost.Host
	name string
	wire *ear
}

// machine plugs in the n-th worker. Its BMC listens on a host of the machine network.
func (s *site) machine(n int, bmcs *lab.Host, made fakebmc.Made) *machine {
	s.t.Helper()
	m := &machine{name: fmt.Sprintf("w%d", n), wire: &ear{card: workerCard(n)}}
	var tap *qemuhost.Tap
	err := s.network.Plug("tap-"+m.name, func(link string) (err error) {
		if tap, err = qemuhost.NewTap(link); err == nil {
			err = m.wire.open(link)
		}
		return err
	})
	if err != nil {
		need.Missing(s.t, fmt.Sprintf("needs taps: %v", err))
	}
	s.t.Cleanup(func() { m.wire.close(); tap.Close() })
	m.Host, err = qemuhost.New(s.t.Context(), qemuhost.Options{Name: m.name, MAC: workerCard(n).String(), UUID: fmt.Sprintf("11111111-1111-4111-8111-1111111111%02x", n),
		Legacy: true, MemoryMB: 4096, Dir: s.t.TempDir(), Card: tap, Log: slog.Default()})
	if err != nil {
		need.Missing(s.t, fmt.Sprintf("needs qemu: %v", err))
	}
	s.t.Cleanup(func() {
		if err := m.Close(); err != nil {
			s.t.Error(err)
		}
		if s.t.Failed() {
			console := m.Console()
			s.t.Logf("console of %s:\n%s\nqemu:\n%s", m.name, console[max(0, len(console)-15000):], m.Errors())
		}
	})
	s.serve(bmcs, fmt.Sprintf("%s:%d", bmcsAt, bmcPort(n)), m.BMC(), &made.TLS)
	return m
}

// serve serves on a host until the test ends.
func (l *lan) serve(on *lab.Host, at string, handler http.Handler, pair *tls.Certificate) {
	l.t.Helper()
	listener, err := on.Listen(at)
	if err != nil {
		l.t.Fatal(err)
	}
	if pair != nil {
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{*pair}})
	}
	server, done := &http.Server{Handler: handler}, make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	l.t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-done); !errors.Is(err, http.ErrServerClosed) {
			l.t.Error(err)
		}
	})
}

// booted are what the machine has started from.
func (m *machine) booted() (from []string) {
	for _, c := range m.Starts() {
		from = append(from, c.Boot)
	}
	return from
}

// signature is what tells that a part of a disk is in use.
type signature struct {
	name string
	at   int64 // of the disk
	text string
}

const (
	sector = 512
	inUse  = 5 // signatures of a disk with an image and a config drive
)

// partitions are the first bytes of a disk's partitions, by its table (UEFI 5.3); none without one.
func partitions(disk *os.File) (starts []int64, err error) {
	table := make([]byte, 34*sector)
	if _, err := disk.ReadAt(table, 0); err != nil {
		return nil, err
	}
	if string(table[sector:sector+8]) != "EFI PART" {
		return nil, nil
	}
	for entry := table[2*sector:]; len(entry) >= 128; entry = entry[128:] {
		if first := int64(binary.LittleEndian.Uint64(entry[32:])); first > 0 {
			starts = append(starts, first*sector)
		}
	}
	slices.Sort(starts)
	return starts, nil
}

// marks are all places of a machine's disk that have a signature if an image of osimage and a config
// drive were written: both tables, and a file system in each partition but GRUB's own.
func (m *machine) marks() ([]signature, error) {
	disk, err := os.Open(m.Disk())
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	end, err := disk.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	starts, err := partitions(disk)
	all := []signature{{"the table", sector, "EFI PART"}, {"the second table", end - sector, "EFI PART"}}
	for i, at := range starts {
		const ext4, fat, iso = "\x53\xef", "\x55\xaa", "CD001"
		name := fmt.Sprintf("partition %d", i+1)
		all = append(all, signature{name + ", ext4", at + 1080, ext4}, signature{name + ", FAT", at + 510, fat}, signature{name + ", ISO 9660", at + 32769, iso})
	}
	return slices.DeleteFunc(all, func(s signature) bool { return !s.on(disk) }), err
}

// on reports whether a disk has it.
func (s signature) on(disk io.ReaderAt) bool {
	got := make([]byte, len(s.text))
	_, err := disk.ReadAt(got, s.at)
	return err == nil && string(got) == s.text
}

// left are those of former signatures that the disk still has.
func (m *machine) left(former []signature) (names []string, err error) {
	disk, err := os.Open(m.Disk())
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	for _, s := range former {
		if s.on(disk) {
			names = append(names, s.name)
		}
	}
	return names, nil
}

// ear hears which DHCP answers go to a machine, by the wire to its card.
type ear struct {
	card  mac.MAC
	fd    int
	ended sync.WaitGroup
	done  chan struct{}

	mu    sync.Mutex
	heard []answer
}

// open begins to listen on a link of the thread's network.
func (e *ear) open(link string) error {
	at, err := net.InterfaceByName(link)
	if err != nil {
		return err
	}
	const everything = unix.ETH_P_ALL>>8 | unix.ETH_P_ALL&0xff<<8 // in the order of the network
	if e.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if err := errors.Join(unix.SetsockoptTimeval(e.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 50_000}),
		unix.Bind(e.fd, &unix.SockaddrLinklayer{Protocol: everything, Ifindex: at.Index})); err != nil {
		return errors.Join(err, unix.Close(e.fd))
	}
	e.done = make(chan struct{})
	e.ended.Go(e.listen)
	return nil
}

func (e *ear) close() {
	close(e.done)
	e.ended.Wait()
	_ = unix.Close(e.fd) // nothing was written
}

func (e *ear) listen() {
	buffer := make([]byte, 4096)
	for {
		select {
		case <-e.done:
			return
		default:
		}
		n, from, err := unix.Recvfrom(e.fd, buffer, 0)
		if err != nil {
			continue // of the time-out
		}
		if a, ok := answerIn(buffer[:n], from); ok && bytes.Equal(a.ClientHWAddr, e.card[:]) {
			e.mu.Lock()
			e.heard = append(e.heard, a)
			e.mu.Unlock()
		}
	}
}

// answers are those so far.
func (e *ear) answers() []answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}
