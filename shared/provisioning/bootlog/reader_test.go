package bootlog

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// short is an event in one line, without its time.
func short(e Event) string {
	words := []string{string(e.Kind)}
	for _, one := range []struct{ name, value string }{
		{"on", e.Interface}, {"class", e.Class}, {"user", e.UserClass}, {"file", e.File},
		{"detail", e.Detail},
	} {
		if one.value != "" {
			words = append(words, one.name+"="+one.value)
		}
	}
	if e.MAC != (mac.MAC{}) {
		words = append(words, e.MAC.String())
	}
	if e.Address.IsValid() {
		words = append(words, e.Address.String())
	}
	return strings.Join(words, " ")
}

// TestLines has lines of real logs: what the tests' dnsmasq 2.90 wrote, to its own output and by
// way of journald and syslog.
func TestLines(t *testing.T) {
	at := time.Unix(1, 0)
	const pid = "dnsmasq-dhcp[437]: "
	for _, tt := range []struct{ name, log, want string }{
		{"a boot over IPv4", pid + `1059860912 available DHCP subnet: 172.22.0.0/255.255.255.0
dnsmasq-dhcp[437]: 1059860912 vendor class: PXEClient:Arch:00007:UNDI:003001
dnsmasq-dhcp[437]: 1059860912 DHCPDISCOVER(eth0) 52:54:00:00:00:0a 
dnsmasq-dhcp[437]: 1059860912 tags: known, boot, x64, eth0
dnsmasq-dhcp[437]: 1059860912 DHCPOFFER(eth0) 172.22.0.10 52:54:00:00:00:0a 
dnsmasq-dhcp[437]: 1059860912 requested options: 67:bootfile-name
dnsmasq-dhcp[437]: 1059860912 next server: 172.22.0.2
dnsmasq-dhcp[437]: 1059860912 sent size:  1 option: 53 message-type  2
dnsmasq-dhcp[437]: 1059860912 sent size: 12 option: 67 bootfile-name  snponly.efi
dnsmasq-dhcp[437]: 1059860912 available DHCP subnet: 172.22.0.0/255.255.255.0
dnsmasq-dhcp[437]: 1059860912 DHCPREQUEST(eth0) 172.22.0.10 52:54:00:00:00:0a 
dnsmasq-dhcp[437]: 1059860912 DHCPACK(eth0) 172.22.0.10 52:54:00:00:00:0a host-10
dnsmasq-tftp[437]: sent /srv/tftp/snponly.efi to 172.22.0.10
dnsmasq-tftp[437]: file /srv/tftp/none.efi not found for 172.22.0.10
dnsmasq-tftp[437]: error 8 User aborted the transfer received from 172.22.0.10
dnsmasq-tftp[437]: failed sending /srv/tftp/a to b to 172.22.0.11`,
			`discover on=eth0 class=PXEClient:Arch:00007:UNDI:003001 52:54:00:00:00:0a
offer on=eth0 class=PXEClient:Arch:00007:UNDI:003001 52:54:00:00:00:0a 172.22.0.10
program on=eth0 class=PXEClient:Arch:00007:UNDI:003001 file=snponly.efi ` +
				`52:54:00:00:00:0a 172.22.0.10
request on=eth0 52:54:00:00:00:0a 172.22.0.10
ack on=eth0 detail=host-10 52:54:00:00:00:0a 172.22.0.10
tftp-sent file=/srv/tftp/snponly.efi 52:54:00:00:00:0a 172.22.0.10
tftp-missing file=/srv/tftp/none.efi 52:54:00:00:00:0a 172.22.0.10
tftp-failed detail=8 User aborted the transfer 52:54:00:00:00:0a 172.22.0.10
tftp-failed file=/srv/tftp/a to b 172.22.0.11`},
		{"a boot over IPv6", pid + `11367173 available DHCPv6 subnet: fd00:22::/64
dnsmasq-dhcp[437]: 11367173 vendor class: 343
dnsmasq-dhcp[437]: 11367173 user class: iPXE
dnsmasq-dhcp[437]: 11367173 client MAC address: 52:54:00:00:00:0a
dnsmasq-dhcp[437]: 11367173 DHCPSOLICIT(eth0) 00:04:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:0a 
dnsmasq-dhcp[437]: 11367173 DHCPADVERTISE(eth0) fd00:22::28 00:04:00:00:00:0a host-10
dnsmasq-dhcp[437]: 11367173 sent size: 31 option: 59 bootfile-url  tftp://[fd00:22::2]/snponly.efi
dnsmasq-dhcp[437]: 9863316 client MAC address: 52:54:00:00:00:0a
dnsmasq-dhcp[437]: 9863316 DHCPREPLY(eth0) fd00:22::28 00:04:00:00:00:00:0a host-10
dnsmasq-tftp[437]: sent /srv/tftp/snponly.efi to fd00:22::28`,
			`solicit on=eth0 class=343 user=iPXE 52:54:00:00:00:0a
advertise on=eth0 class=343 user=iPXE detail=host-10 52:54:00:00:00:0a fd00:22::28
program on=eth0 class=343 user=iPXE file=tftp://[fd00:22::2]/snponly.efi ` +
				`52:54:00:00:00:0a fd00:22::28
reply on=eth0 detail=host-10 52:54:00:00:00:0a fd00:22::28
tftp-sent file=/srv/tftp/snponly.efi 52:54:00:00:00:0a fd00:22::28`},
		{"an unknown host", pid + `3113058504 vendor class: PXEClient:Arch:00000
dnsmasq-dhcp[437]: 3113058504 DHCPDISCOVER(eth0) 52:54:00:00:00:63 ignored`,
			"discover on=eth0 class=PXEClient:Arch:00000 detail=ignored 52:54:00:00:00:63"},
		{"PR-18: an architecture without a program", pid + `7 vendor class: PXEClient:Arch:00027
dnsmasq-dhcp[437]: 7 DHCPDISCOVER(eth0) 52:54:00:00:00:0a 
dnsmasq-dhcp[437]: 7 tags: no-boot-program, known, boot, eth0`,
			`discover on=eth0 class=PXEClient:Arch:00027 52:54:00:00:00:0a
no-program on=eth0 class=PXEClient:Arch:00027 52:54:00:00:00:0a`},
		{"refusals, without numbers", `Nov 23 18:37:35 node dnsmasq-dhcp[437]: ` +
			`DHCPNAK(eth0) 172.22.0.77 52:54:00:00:00:0a wrong address
dnsmasq-dhcp: DHCPDISCOVER(eth0) 52:54:00:00:00:0a no address available`,
			`nak on=eth0 detail=wrong address 52:54:00:00:00:0a 172.22.0.77
discover on=eth0 detail=no address available 52:54:00:00:00:0a`},
		{"a host with a program's name", "Nov 23 18:37:35 dnsmasq-dhcp01 dnsmasq-dhcp[437]: DHCPDISCOVER(eth0) 52:54:00:00:00:0a ",
			"discover on=eth0 52:54:00:00:00:0a"},
		{"a class and a path that name the other program", pid + `7 vendor class: dnsmasq-tftp: sent /srv/tftp/a to 172.22.0.11
dnsmasq-dhcp[437]: 7 DHCPDISCOVER(eth0) 52:54:00:00:00:0a 
dnsmasq-tftp[437]: file /srv/tftp/dnsmasq-dhcp: 7 not found for 172.22.0.11`,
			`discover on=eth0 class=dnsmasq-tftp: sent /srv/tftp/a to 172.22.0.11 52:54:00:00:00:0a
tftp-missing file=/srv/tftp/dnsmasq-dhcp: 7 172.22.0.11`},
		{"a file of the header", pid + "7 bootfile name: undionly.kpxe",
			"program file=undionly.kpxe"},
		{"nothing of hosts", `dnsmasq[437]: started, version 2.90 DNS disabled
dnsmasq-dhcp[437]: DHCP, static leases only on 172.22.0.0, lease time 1h
dnsmasq-dhcp[437]: read /etc/hosts
dnsmasq-dhcp[437]: RTR-ADVERT(eth0) fd00:22::
dnsmasq-dhcp[437]: 7 DHCPOFFER
dnsmasq-dhcp[437]: 7 DHCPOFFER(eth0
dnsmasq-dhcp[437]: 7 DHCPOFFER(eth0)
dnsmasq-dhcp[x]: DHCPOFFER(eth0) 52:54:00:00:00:0a
dnsmasq-tftp[437]: TFTP root is /srv/tftp
dnsmasq-tftp[437]: sent /srv/tftp/a to nobody`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var r Reader
			var got []string
			for line := range strings.SplitSeq(tt.log, "\n") {
				if e, ok := r.Line(at, line); ok {
					got = append(got, short(e))
					if e.Time != at {
						t.Errorf("%s: at %s", short(e), e.Time)
					}
				}
			}
			if text := strings.Join(got, "\n"); text != tt.want {
				t.Errorf("got\n%s\nwant\n%s", text, tt.want)
			}
		})
	}
}

// TestBounded holds that clients which never repeat themselves take no more than the bounds.
func TestBounded(t *testing.T) {
	var r Reader
	for i := range maxHosts + 10 {
		a := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		line := fmt.Sprintf("dnsmasq-dhcp: %d DHCPACK(eth0) %s 52:54:00:00:00:0a", i, a)
		r.Line(time.Time{}, line)
	}
	if n := len(r.hosts.values); n != maxHosts {
		t.Errorf("%d hosts, want %d", n, maxHosts)
	}
	if n := len(r.transactions.values); n != maxTransactions {
		t.Errorf("%d transactions, want %d", n, maxTransactions)
	}
	last := netip.AddrFrom4([4]byte{10, 0, (maxHosts + 9) >> 8, (maxHosts + 9) & 0xff})
	if e, ok := r.Line(time.Time{}, "dnsmasq-tftp: sent x to "+last.String()); !ok ||
		e.MAC == (mac.MAC{}) {
		t.Errorf("the last host is forgotten: %v", e)
	}
}

// FuzzLine reads any lines: events have a kind, and text of the line they came from.
func FuzzLine(f *testing.F) {
	f.Add("dnsmasq-dhcp[1]: 7 vendor class: x",
		"dnsmasq-dhcp[1]: 7 DHCPACK(e) 1.2.3.4 52:54:00:00:00:0a")
	f.Add("dnsmasq-tftp: sent  to  to 1.2.3.4", "dnsmasq-dhcp[1]: 7 tags: no-boot-program")
	f.Add("dnsmasq-dhcp[1]: 7 sent size: 1 option: 67 bootfile-name  x", "dnsmasq-tftp[]: ")
	f.Fuzz(func(t *testing.T, first, second string) {
		var r Reader
		for _, line := range []string{first, second} {
			e, ok := r.Line(time.Unix(1, 0), line)
			if !ok {
				continue
			}
			if e.Kind == "" || !strings.Contains(line, e.File) ||
				!strings.Contains(line, e.Detail) ||
				!strings.Contains(first+second, e.Class) {
				t.Errorf("%q: %+v", line, e)
			}
			_ = e.Ignored()
		}
	})
}
