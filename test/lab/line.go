package lab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// Line is the faults of a wire. The zero value has none.
type Line struct {
	Loss      float64       // of so many frames
	Duplicate float64       // of so many frames
	Delay     time.Duration // of each frame
	Jitter    time.Duration // up to so much more; frames do not overtake each other
	Way       Way
	Seed      uint64 // of lost and duplicated frames
}

// line is a host's wire with faults: this process relays frames between the host's port, which is
// removed from the switch, and a port that replaces it. Not every kernel has netem, which is also
// not seeded.
type line struct {
	mu   sync.Mutex
	ends []*os.File // the host's, and the switch's; nil without faults
	done sync.WaitGroup
}

// frame is an Ethernet frame with its virtio header, and when it is due.
type frame struct {
	bytes []byte
	due   time.Time
}

// relayed is the switch's port that replaces the host's own while its wire has faults.
func (h *Host) relayed() string { return fmt.Sprintf("line%d", h.number) }

// Spoil sets the faults of the host's wire, from one frame to the next. Links stay up.
func (h *Host) Spoil(l Line) error {
	if l.Loss < 0 || l.Loss > 1 || l.Duplicate < 0 || l.Duplicate > 1 || l.Delay < 0 ||
		l.Jitter < 0 {
		return fmt.Errorf(
			"spoil the wire of %s: shares are between 0 and 1 and times not negative: %+v", h.Name,
			l,
		)
	}
	if h.line.bad() {
		h.line.stop()
		if err := h.plug(); err != nil {
			return err
		}
	}
	if l.Loss == 0 && l.Duplicate == 0 && l.Delay == 0 && l.Jitter == 0 {
		return nil
	}
	return h.unplug(l)
}

// unplug puts this process between the host and the switch.
func (h *Host) unplug(l Line) error {
	side := fmt.Sprintf("side%d", h.number)
	err := ipBatch(h.lab.prefix+"switch",
		fmt.Sprintf("link add %s type veth peer name %s", h.relayed(), side),
		fmt.Sprintf("link set %s addrgenmode none", side),
		fmt.Sprintf("link set %s addrgenmode none", h.port()),
		fmt.Sprintf("link set %s master br0 up", h.relayed()), fmt.Sprintf("link set %s up", side),
		fmt.Sprintf("link set %s nomaster", h.port()))
	if err != nil {
		return fmt.Errorf("spoil the wire of %s: %w", h.Name, err)
	}
	var ends []*os.File
	err = in(h.lab.wires(), func() error {
		for _, port := range []string{h.port(), side} {
			end, err := tap(port)
			if err != nil {
				return err
			}
			ends = append(ends, end)
		}
		return nil
	})
	if err != nil {
		for _, end := range ends {
			end.Close()
		}
		return errors.Join(fmt.Errorf("spoil the wire of %s: %w", h.Name, err), h.plug())
	}
	h.line.start(l, ends)
	return nil
}

// plug plugs the host into the switch as Add did.
func (h *Host) plug() error {
	return ipBatch(h.lab.prefix+"switch", "link del "+h.relayed(), fmt.Sprintf(
		"link set %s master br0", h.port(),
	))
}

func (l *line) bad() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ends != nil
}

func (l *line) start(plan Line, ends []*os.File) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = ends
	for i, way := range []Way{Out, In} {
		queue := make(chan frame, 4096)
		dice := rand.New(rand.NewPCG(plan.Seed, uint64(way)))
		spoilt := plan
		if plan.Way != Both && plan.Way != way {
			spoilt = Line{}
		}
		l.done.Go(func() { listen(ends[i], spoilt, dice, queue) })
		l.done.Go(func() { speak(ends[1-i], queue) })
	}
}

func (l *line) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range l.ends {
		end.Close() // which ends its readers
	}
	l.done.Wait()
	l.ends = nil
}

// listen reads frames from one end and sets when each is due at the other. A full queue drops
// frames, as in a switch.
func listen(from *os.File, l Line, dice *rand.Rand, to chan<- frame) {
	defer close(to)
	buffer := make([]byte, 1<<17)
	var last time.Time
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		due := time.Now().Add(l.Delay)
		if l.Jitter > 0 {
			due = due.Add(time.Duration(dice.Int64N(int64(l.Jitter))))
		}
		if due.Before(last) {
			due = last
		}
		last = due
		copies := 1
		if dice.Float64() < l.Loss {
			copies = 0
		} else if dice.Float64() < l.Duplicate {
			copies = 2
		}
		f := frame{bytes: append([]byte(nil), buffer[:n]...), due: due}
		for range copies {
			select {
			case to <- f:
			default:
			}
		}
	}
}

// speak writes frames to the other end when they are due.
func speak(to *os.File, queue <-chan frame) {
	for f := range queue {
		time.Sleep(time.Until(f.due))
		_, _ = to.Write(f.bytes) // a link that is down drops it
	}
}
