package cause

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/bootlog"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
)

// Stage is how far a host's boot was seen to get.
type Stage string

// The stages of one boot, in their order. Those of a host that boots virtual media are fewer.
const (
	Nothing    Stage = "nothing"    // it was not seen
	Started    Stage = "started"    // it was switched on
	Asked      Stage = "asked"      // its firmware asks for an address
	Ignored    Stage = "ignored"    // and gets no answer, as it is not to boot now
	Answered   Stage = "answered"   // it has an address
	NoProgram  Stage = "no program" // there is no boot program for its architecture
	Offered    Stage = "offered"    // it is offered a boot program
	Broken     Stage = "broken"     // the transfer of a file failed
	Missing    Stage = "missing"    // it asked for a file that is not there
	Program    Stage = "program"    // it has the boot program, which is iPXE
	Script     Stage = "script"     // iPXE has a script
	Kernel     Stage = "kernel"     // it has the ramdisk's kernel
	Initramfs  Stage = "initramfs"  // and its files
	Media      Stage = "media"      // its BMC fetched the virtual media
	RamdiskUp  Stage = "ramdisk up" // the ramdisk asks for an address, or has one
	CalledBack Stage = "called back"
	Image      Stage = "image" // it fetches the operating system
	Failed     Stage = "failed"
	Deployed   Stage = "deployed"
	System     Stage = "system"  // its operating system asks for an address
	Fetched    Stage = "fetched" // its Ignition got its document
	Joined     Stage = "joined"
)

// order has the stages as they follow each other in a boot.
var order = []Stage{Nothing, Started, Asked, Ignored, Answered, NoProgram, Offered, Broken, Missing,
	Program, Script, Kernel, Initramfs, Media, RamdiskUp, CalledBack, Image, Failed, Deployed,
	System, Fetched, Joined}

// before reports whether a stage comes before another one.
func (s Stage) before(other Stage) bool {
	return slices.Index(order, s) < slices.Index(order, other)
}

// Point is one event that shows how far a host is.
type Point struct {
	At    time.Time
	Stage Stage
	Seen  string // for people
	// Source is what saw it.
	Source events.Source
	// Detail is what the source added. It comes from the network: print it quoted.
	Detail string
	Boot   int // the first boot is 1
}

// Trace is how far one host got and when: its events in the order of their times, without those
// that show nothing of that.
func Trace(all []events.Event) (trace []Point) {
	all = slices.Clone(all)
	events.Sort(all)
	now, boot := Nothing, 1
	for _, e := range all {
		p, again := next(now, e)
		if p.Stage == "" {
			continue
		}
		if again && len(trace) > 0 {
			boot++
		}
		p.At, p.Boot, p.Source, now = e.Time, boot, e.Source, p.Stage
		trace = append(trace, p)
	}
	return trace
}

// next is what an event shows of a host that had got to a stage. With again it begins another boot.
func next(now Stage, e events.Event) (p Point, again bool) {
	switch e.Source {
	case events.DHCP, events.TFTP:
		return wire(now, e)
	case events.HTTP:
		return fetched(now, e)
	case events.Ironic:
		return ironic(now, e), false
	case events.Provision: // each is a boot
		return Point{Stage: Started, Seen: "switched on"}, true
	case events.Ignition:
		return Point{Stage: Fetched, Seen: "its Ignition fetched its document", Detail: e.Detail},
			false
	case events.Node:
		return Point{Stage: Joined, Seen: "node " + word(e.Kind), Detail: e.Detail}, false
	}
	return Point{}, false
}

// wire is an event of DHCP or TFTP. Firmware, iPXE and the ramdisk each ask for an address: which
// of them it was follows from what the host has got before.
func wire(now Stage, e events.Event) (p Point, again bool) {
	p = Point{Detail: e.Detail}
	booting := now.before(Program)
	switch bootlog.Kind(e.Kind) {
	case bootlog.Discover, bootlog.Solicit, bootlog.Request, bootlog.Rebind, bootlog.Renew,
		bootlog.Confirm, bootlog.Inform, bootlog.InfoRequest:
		ignored := strings.HasSuffix(e.Detail, "ignored")
		switch {
		case now == Deployed && !byFirmware(e.Detail):
			p.Stage, p.Seen = System, "its operating system asked for an address"
		case ignored && booting:
			p.Stage, p.Seen = Ignored, "asked for an address and got no answer"
		case ignored || !booting && !ramdisk(now):
			return Point{}, false
		case ramdisk(now):
			p.Stage, p.Seen = RamdiskUp, "the ramdisk asked for an address"
		case now.before(Answered):
			p.Stage, p.Seen = Asked, "asked for an address"
		default:
			return Point{}, false
		}
	case bootlog.Offer, bootlog.Ack, bootlog.Advertise, bootlog.Reply:
		switch {
		case ramdisk(now):
			p.Stage, p.Seen = RamdiskUp, "the ramdisk got an address"
		case now.before(NoProgram):
			p.Stage, p.Seen = Answered, "got an address"
		default:
			return Point{}, false
		}
	case bootlog.NoProgram:
		p.Stage, p.Seen = NoProgram, "asked for a boot program of another architecture"
		again = !booting
	case bootlog.Program:
		if script(e.Detail) {
			return Point{}, false // iPXE is offered its script, and has not fetched it
		}
		p.Stage, p.Seen, again = Offered, "was offered a boot program", !booting
	case bootlog.TFTPSent:
		if script(e.Detail) {
			return Point{}, false // iPXE's own first script, autoexec.ipxe, shows nothing
		}
		p.Stage, p.Seen, again = Program, "boot program fetched", !now.before(Script)
	case bootlog.TFTPFailed:
		p.Stage, p.Seen, again = Broken, "broke a transfer by TFTP off", !booting && now != Program
	case bootlog.TFTPMissing:
		p.Stage, p.Seen = Missing, "asked for a file that is not served"
		again = !booting && now != Program
	default:
		return Point{}, false
	}
	return p, again
}

// byFirmware reports whether a message of DHCP is of firmware that boots from the network, or of
// iPXE: by the vendor class that a system does not send, or its number over IPv6 (RFC 5970).
func byFirmware(detail string) bool {
	return strings.Contains(detail, "PXEClient") || strings.Contains(detail, "HTTPClient") ||
		slices.ContainsFunc(strings.Fields(detail), func(word string) bool {
			return word == "iPXE" || word == "343"
		})
}

// ramdisk reports whether the next to ask for an address is the ramdisk.
func ramdisk(now Stage) bool { return !now.before(Kernel) && now.before(CalledBack) }

func script(file string) bool { return strings.Contains(file, ".ipxe") }

// The kinds of requests of the HTTP server that show how far a host is. A question for a file's
// size, and files of no boot, show nothing.
var fetches = map[string]Point{
	"program": {Stage: Program, Seen: "boot program fetched"},
	"script":  {Stage: Script, Seen: "iPXE fetched its script"},
	"kernel":  {Stage: Kernel, Seen: "kernel fetched"},
	"ramdisk": {Stage: Initramfs, Seen: "initramfs fetched"},
	"media":   {Stage: Media, Seen: "virtual media fetched"},
	"image":   {Stage: Image, Seen: "operating system fetched"},
	"broken":  {Stage: Broken, Seen: "did not get a whole file by HTTP"},
	"refused": {Stage: Missing, Seen: "asked for a file that is not served"},
}

// fetched is what a request to the HTTP server shows.
func fetched(now Stage, e events.Event) (p Point, again bool) {
	p, known := fetches[e.Kind]
	if !known {
		return Point{}, false
	}
	p.Detail = e.Detail
	switch p.Stage {
	case Program, Script, Kernel:
		again = p.Stage.before(now) && !now.before(Kernel)
	case Media:
		again = !now.before(CalledBack)
	}
	return p, again
}

// ironic is what a state of Ironic's node, or a report of the ramdisk to Ironic, shows.
func ironic(now Stage, e events.Event) (p Point) {
	p = Point{Detail: e.Detail}
	switch kind := e.Kind; {
	case kind == "active":
		p.Stage, p.Seen = Deployed, "deployed"
	case strings.HasSuffix(kind, "failed"), kind == "error":
		p.Stage, p.Seen = Failed, "Ironic: "+word(kind)
	case kind == events.CallBack:
		p.Stage, p.Seen = CalledBack, "the ramdisk called back"
	case (kind == "manageable" || kind == "available") && !now.before(Kernel):
		p.Stage, p.Seen = CalledBack, "inspected"
	default:
		return Point{}
	}
	return p
}

// word is a short text from the network, cut, and quoted if it has to be.
func word(text string) string {
	const most = 20
	if quoted := strconv.Quote(text); quoted != `"`+text+`"` || len(text) > most {
		return quoted[:min(len(quoted), most)]
	}
	return text
}
