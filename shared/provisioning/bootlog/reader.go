package bootlog

import (
	"net/netip"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning"
)

// The bounds of a Reader's memory: transactions under way, and addresses with their hosts. Clients
// choose what they send, so the oldest is forgotten for a new one.
const (
	maxTransactions = 1024
	maxHosts        = 8192
)

// Reader joins the lines of one dnsmasq's log to events. The zero value has read nothing; one is
// for one goroutine.
type Reader struct {
	transactions memory[string, transaction]
	hosts        memory[netip.Addr, mac.MAC]
}

// transaction is what the lines of one message have in common: dnsmasq begins each with a number.
type transaction struct {
	mac              mac.MAC
	class, userClass string
	address          netip.Addr
	link             string
}

// Line reads one line, as dnsmasq writes it or with what a log daemon puts before it. at is when it
// was written. It returns false for a line that reports nothing of a host.
func (r *Reader) Line(at time.Time, line string) (Event, bool) {
	e := Event{Time: at}
	file, isTFTP := after(line, "dnsmasq-tftp")
	text, isDHCP := after(line, "dnsmasq-dhcp")
	// What a program logs may have the other one's name, as clients choose it: the first counts.
	if isTFTP && len(file) > len(text) {
		return e, r.tftp(&e, file)
	}
	if !isDHCP {
		return e, false
	}
	number, rest, _ := strings.Cut(text, " ")
	if number == "" || strings.Trim(number, "0123456789") != "" {
		number, rest = "", text // without log-dhcp messages have no number
	}
	return e, r.dhcp(&e, number, rest)
}

// after is what follows a program's name, its process and a colon, at the first place that has
// these: the name of the host before them may begin like the program's.
func after(line, program string) (text string, ok bool) {
	for rest, found := line, true; !ok && found; {
		if _, rest, found = strings.Cut(rest, program); found {
			text, ok = afterProcess(rest)
		}
	}
	return text, ok
}

// afterProcess is what follows the number of a process, which may be missing, and a colon.
func afterProcess(rest string) (text string, ok bool) {
	if inside, bracket := strings.CutPrefix(rest, "["); bracket {
		pid, behind, _ := strings.Cut(inside, "]")
		if pid == "" || strings.Trim(pid, "0123456789") != "" {
			return "", false
		}
		rest = behind
	}
	return strings.CutPrefix(rest, ": ")
}

// dhcp reads a line about a message.
func (r *Reader) dhcp(e *Event, number, text string) bool {
	t, _ := r.transactions.get(number)
	note := func(t transaction) bool {
		if number != "" {
			r.transactions.put(number, t, maxTransactions)
		}
		return false
	}
	if strings.HasPrefix(text, "available DHCP") { // the first line of a message
		return note(transaction{})
	}
	if class, ok := strings.CutPrefix(text, "vendor class: "); ok {
		t.class = class
		return note(t)
	}
	if class, ok := strings.CutPrefix(text, "user class: "); ok {
		t.userClass = class
		return note(t)
	}
	if card, ok := strings.CutPrefix(text, "client MAC address: "); ok {
		t.mac, _ = mac.ParseCard(card)
		return note(t)
	}
	e.MAC, e.Address, e.Interface = t.mac, t.address, t.link
	e.Class, e.UserClass = t.class, t.userClass
	if file := programOf(text); file != "" {
		e.Kind, e.File = Program, file
		return true
	}
	if tags, ok := strings.CutPrefix(text, "tags: "); ok {
		e.Kind = NoProgram
		return hasTag(tags, provisioning.Unserved)
	}
	if !message(e, text) {
		return false
	}
	t.mac, t.address, t.link = e.MAC, e.Address, e.Interface
	note(t)
	if e.Address.IsValid() && e.MAC != (mac.MAC{}) &&
		(e.Kind == Ack || e.Kind == Reply) {
		r.hosts.put(e.Address, e.MAC, maxHosts)
	}
	return true
}

func hasTag(tags, want string) bool {
	for tag := range strings.SplitSeq(tags, ", ") {
		if tag == want {
			return true
		}
	}
	return false
}

// programOf is the boot file that a line names: in the header of the answer, or as its option.
func programOf(text string) string {
	if file, ok := strings.CutPrefix(text, "bootfile name: "); ok {
		return file
	}
	if !strings.HasPrefix(text, "sent size:") {
		return ""
	}
	for _, option := range []string{" option: 67 bootfile-name  ", " option: 59 bootfile-url  "} {
		if _, file, ok := strings.Cut(text, option); ok {
			return file
		}
	}
	return ""
}

// message reads NAME(LINK) [ADDRESS] MAC|IDENTIFIER [DETAIL].
func message(e *Event, text string) bool {
	head, rest, _ := strings.Cut(text, " ")
	name, link, ok := strings.Cut(strings.TrimSuffix(head, ")"), "(")
	kind, known := messages[name]
	if !ok || !known || !strings.HasSuffix(head, ")") {
		return false
	}
	e.Kind, e.Interface, e.Address = kind, link, netip.Addr{}
	word, behind, _ := strings.Cut(rest, " ")
	if a, err := netip.ParseAddr(word); err == nil {
		e.Address = a
		word, behind, _ = strings.Cut(behind, " ")
	}
	// Over IPv6 the word is an identifier, which may look like a MAC address.
	if card, err := mac.ParseCard(word); err == nil && e.MAC == (mac.MAC{}) {
		e.MAC = card
	}
	e.Detail = strings.TrimSpace(behind)
	return word != ""
}

// tftp reads a line about a transfer. Paths may have spaces, addresses have none.
func (r *Reader) tftp(e *Event, text string) bool {
	for _, form := range []struct {
		kind          Kind
		before, until string
	}{
		{TFTPFailed, "failed sending ", " to "}, {TFTPSent, "sent ", " to "},
		{TFTPMissing, "file ", " not found for "}, {TFTPFailed, "error ", " received from "},
	} {
		rest, ok := strings.CutPrefix(text, form.before)
		i := strings.LastIndex(rest, form.until)
		if !ok || i < 0 {
			continue
		}
		a, err := netip.ParseAddr(rest[i+len(form.until):])
		if err != nil {
			continue
		}
		e.Kind, e.Address, e.File = form.kind, a, rest[:i]
		if form.before == "error " {
			e.File, e.Detail = "", rest[:i]
		}
		e.MAC, _ = r.hosts.get(a)
		return true
	}
	return false
}
