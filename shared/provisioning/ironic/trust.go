package ironic

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// Where a ramdisk has Ironic's certificate, and where its agent reads that it is to verify by it.
// The names are those that Ironic gives the same files on virtual media. Agents are started with
// the one directory of configuration or the other.
const (
	remoteCertificate = "etc/ironic-python-agent/ironic.crt"
	agentConfig       = "[DEFAULT]\ncafile = /" + remoteCertificate + "\ninsecure = false\n"
)

var (
	remoteConfigs = []string{"etc/ironic-python-agent.d/ironic-tls.conf",
		"etc/ironic-python-agent.conf.d/ironic-tls.conf"}
	remoteDirs = []string{"etc", "etc/ironic-python-agent", "etc/ironic-python-agent.d",
		"etc/ironic-python-agent.conf.d"}
)

// TrustArchive is what iPXE loads beside the ramdisk: the kernel unpacks both into one tree. A
// ramdisk that only looks for another root file system in its own must copy these files there. It
// is compressed, as the kernel takes a plain archive at certain places only.
func TrustArchive(certificate []byte) []byte {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	a := archive{to: compressed}
	for _, dir := range remoteDirs {
		a.add(dir, 0o40755, nil)
	}
	a.add(remoteCertificate, 0o100644, certificate)
	for _, name := range remoteConfigs {
		a.add(name, 0o100644, []byte(agentConfig))
	}
	a.add("TRAILER!!!", 0, nil)
	_ = compressed.Close() // a buffer takes everything
	// The kernel skips zeros between archives.
	return append(out.Bytes(), make([]byte, padding(out.Len()))...)
}

// archive writes cpio's format newc, which the kernel unpacks (initramfs-buffer-format of Linux).
type archive struct {
	to      io.Writer
	entries int
}

// add writes an entry, whose owner is root and whose time is 0.
func (a *archive) add(name string, mode uint32, content []byte) {
	a.entries++
	fields := []int{a.entries, int(mode), 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0}
	header := []byte("070701")
	for _, f := range fields {
		header = fmt.Appendf(header, "%08X", f)
	}
	header = append(header, name+"\x00"...)
	for _, part := range [][]byte{header, content} {
		_, _ = a.to.Write(part) // a buffer takes everything
		_, _ = a.to.Write(make([]byte, padding(len(part))))
	}
}

// padding is how many bytes are missing to a multiple of 4.
func padding(n int) int { return -n & 3 }
