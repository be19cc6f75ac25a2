package provisioning

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// units are those of the bootstrap machine that the tests look at.
var units = []string{"onprem-provisioning-interface.service", "onprem-httpd.service", "onprem-ironic.service",
	"onprem-dnsmasq.service", "onprem-provision.service"}

// TestUnits boots a bootstrap machine.
func TestUnits(t *testing.T) {
	s := newSite(t)
	s.add(&host{kind: kind{name: "master-0", legacy: true}, mac: "52:54:00:22:00:01"})
	dir := t.TempDir()
	var files payload
	for name, to := range map[string]*string{"agent.kernel": &files.kernel, "agent.initramfs": &files.initramfs, "os.raw": &files.image} {
		*to = filepath.Join(dir, name)
		s.must(os.WriteFile(*to, []byte(name), 0o644))
	}
	s.install(files)
	s.must(s.Boot(t.Context()))
	s.laps.lap("systemd runs")
	time.Sleep(100 * time.Second)
	t.Fail()
}
