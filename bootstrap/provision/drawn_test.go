package provision

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/host/events"
	"github.com/onprem-infra/onprem-infra/shared/host/ledger"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/chronicle/install"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/bootlog"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	kept "github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// servers are dnsmasq and the HTTP server of a rig, by what they write: lines of dnsmasq's log, as
// version 2.90 wrote them, and requests. The files are those of the product's writers.
type servers struct {
	*rig
	dir   string
	log   bootlog.Reader
	names map[mac.MAC]string
}

func (s *servers) file(source kept.Source) events.Log {
	path := filepath.Join(s.dir, "events-"+string(source))
	return events.Log{Path: path + ".jsonl", Former: path + ".1.jsonl"}
}

// Note writes the phase machine's events, and what the boots that it asked for make the servers write.
func (s *servers) Note(all ...kept.Event) error {
	for _, e := range all {
		if err := s.file(e.Source).Append(e); err != nil {
			return err
		}
		if e.Source == kept.Provision && strings.HasPrefix(e.Kind, "boot") && e.Kind != "boot from the disk" {
			if err := s.boots(e); err != nil {
				return err
			}
		}
	}
	return s.rig.Note(all...)
}

// Traces are what the files have by now of each host.
func (s *servers) Traces() (map[string]machine.Trace, error) {
	all, err := s.rig.Traces()
	if err != nil {
		return nil, err
	}
	var seen []kept.Event
	for _, source := range kept.Sources() {
		some, _, err := s.file(source).Read()
		if err != nil {
			return nil, err
		}
		seen = append(seen, slices.DeleteFunc(some, func(e kept.Event) bool { return e.Time.After(s.world.Now) })...)
	}
	for name, trace := range all {
		trace.Cause = cause.Of(kept.Of(seen, name), s.world.Now)
		all[name] = trace
	}
	return all, nil
}

// boots is a boot from the network: firmware, iPXE and the ramdisk. One that the machine loses ends
// before its firmware has its program.
func (s *servers) boots(e kept.Event) error {
	var index int
	if _, err := fmt.Sscanf(e.Host, "master-%d", &index); err != nil {
		return err
	}
	at := e.Time.Add(5 * time.Second)
	address := netip.AddrFrom4([4]byte{172, 22, 0, byte(10 + index)})
	line := func(format string, args ...any) error {
		one, ok := s.log.Line(at, "dnsmasq-"+fmt.Sprintf(format, args...))
		if !ok {
			return nil
		}
		k := one.Kept(s.names[one.MAC])
		return s.file(k.Source).Append(k)
	}
	ask := func(class, program string) (err error) {
		for _, l := range []string{"available DHCP subnet: 172.22.0.0/255.255.255.0", class, "DHCPDISCOVER(eth0) " + e.MAC.String() + " ",
			fmt.Sprintf("DHCPOFFER(eth0) %s %s ", address, e.MAC), program, "available DHCP subnet: 172.22.0.0/255.255.255.0", class,
			fmt.Sprintf("DHCPREQUEST(eth0) %s %s ", address, e.MAC), fmt.Sprintf("DHCPACK(eth0) %s %s %s", address, e.MAC, e.Host)} {
			if err == nil && l != "" {
				err = line("dhcp[437]: 1059860912 %s", l)
			}
		}
		return err
	}
	fetch := func(file string, took time.Duration) error {
		at = at.Add(took)
		a := access.Access{At: at, Client: address, Method: "GET", File: file, Status: 200, Bytes: 1 << 20, Took: took}
		return s.file(kept.HTTP).Append(kept.Event{Time: a.At, Host: e.Host, MAC: e.MAC, Source: kept.HTTP, Kind: string(a.Kind()), Detail: a.String()})
	}
	err := ask("vendor class: PXEClient:Arch:00007:UNDI:003001", "sent size: 12 option: 67 bootfile-name  snponly.efi")
	if err != nil || s.world.Machines[index].Lost > 0 {
		return err
	}
	if err := line("tftp[437]: sent /srv/tftp/snponly.efi to %s", address); err != nil {
		return err
	}
	for _, file := range []string{"boot.ipxe", "images/agent.kernel", "images/agent.initramfs"} {
		if err := fetch(file, 2*time.Second); err != nil {
			return err
		}
	}
	at = at.Add(4 * time.Second)
	return ask("", "")
}

// TestRun_Drawn holds what an operator reads of a whole installation, from the files that the phase
// machine, dnsmasq's reader and the HTTP server write: a host whose first boot is lost, and one whose
// BMC refuses the account. No password is in it.
func TestRun_Drawn(t *testing.T) {
	r := newRig(1)
	r.world.Machines[1].Lost = 1
	r.passwords["master-0"], r.world.Machines[0].Password = "Pl4ntedS3cret", "Pl4ntedS3cret"
	r.passwords["master-2"] = "Pl4ntedWr0ng"
	s := &servers{rig: r, dir: t.TempDir(), names: map[mac.MAC]string{}}
	for _, h := range testPlan().Hosts {
		s.names[h.MAC] = h.Name
	}
	journal := ledger.File(filepath.Join(s.dir, "journal.jsonl"))
	r.room.Host = s
	if !r.until(t.Context(), 2*time.Hour, r.done) {
		t.Fatalf("no end: %+v", r.shown)
	}
	if err := journal.Append(r.entries()...); err != nil {
		t.Fatal(err)
	}
	var record install.Record
	var err error
	if record.Entries, err = journal.Read(); err != nil {
		t.Fatal(err)
	}
	for _, source := range kept.Sources() {
		all, broken, err := s.file(source).Read()
		if err != nil || broken > 0 {
			t.Fatalf("%s: %v, %d broken", source, err, broken)
		}
		record.Events = append(record.Events, all...)
	}
	page := install.Page(record)
	var html strings.Builder
	if err := page.Write(&html); err != nil {
		t.Fatal(err)
	}
	text := install.Text(page, layout.Of(0))
	golden.Check(t, []byte(text))
	for _, where := range []string{text, html.String()} {
		if strings.Contains(where, "Pl4nted") {
			t.Error("a password is in it")
		}
	}
	if r.shown.Phase != progress.Deploy || len(page.Timelines[0].Lanes) != 4 {
		t.Errorf("phase %s, %d lanes", r.shown.Phase, len(page.Timelines[0].Lanes))
	}
}
