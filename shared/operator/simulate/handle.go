package simulate

// handlers are what each kind of event does.
var handlers = [...]func(w *world, h *host, e event){
	evFault:    func(w *world, _ *host, e event) { w.begin(w.faults[e.arg], e.arg) },
	evHealed:   func(w *world, h *host, e event) { w.heal(h, w.faults[e.arg], e.arg, e.gen) },
	evAdvert:   func(w *world, h *host, e event) { w.arrive(h, advert{from: w.hosts[e.other], priority: int(e.arg)}) },
	evTimer:    func(w *world, h *host, e event) { w.expire(h, e.gen) },
	evTrack:    func(w *world, h *host, e event) { w.readTracks(h, e.gen) },
	evAddress:  func(w *world, h *host, e event) { w.address(h, e.gen) },
	evDrop:     func(w *world, h *host, e event) { w.drop(h, e.gen) },
	evARP:      func(w *world, h *host, e event) { w.announce(h, e.gen) },
	evStart:    func(w *world, h *host, e event) { w.startRouter(h, e.gen) },
	evStrip:    func(w *world, h *host, e event) { w.strip(h, e.gen) },
	evOutlived: func(w *world, h *host, e event) { w.outlived(h, e.gen) },
	evThaw:     func(w *world, h *host, e event) { w.thaw(h, e.gen) },
	evLeave:    func(w *world, h *host, e event) { w.leaveNow(h, e.gen) },
	evSettled:  func(w *world, h *host, _ event) { w.settled(h) },
	evBonus:    func(w *world, h *host, e event) { w.report(h, state(e.arg), e.gen) },
	evSilent:   func(w *world, h *host, e event) { w.silent(h, e.gen) },
	evQuit:     func(w *world, h *host, e event) { w.quit(h, e.gen) },
	evLook:     func(w *world, h *host, e event) { w.look(h, int(e.other), e.gen) },
	evFinding:  func(w *world, h *host, e event) { w.found(h, int(e.other), e.arg, e.gen) },
	evServer:   func(w *world, h *host, e event) { w.lookAtServer(h, w.hosts[e.other], e.arg, e.gen) },
	evMonitor:  func(w *world, h *host, e event) { w.monitor(h, e.arg, e.gen) },
	evRedirect: func(w *world, h *host, e event) { w.redirect(h, e.arg != 0, e.gen) },
	evServed:   func(w *world, h *host, e event) { w.seeServed(h, e.gen) },
	evLearn:    func(w *world, h *host, e event) { w.learn(h, w.hosts[e.other], e.arg != 0) },
	evRelease:  func(w *world, h *host, e event) { w.probeAPI(h, e.arg, e.gen) },
	evOrder:    func(w *world, h *host, _ event) { w.powerOff(h) },
	evPart:     func(w *world, h *host, e event) { w.startPart(h, part(e.arg), e.gen) },
	evClient:   func(w *world, _ *host, _ event) { w.ask() },
}

// handle does what is due.
func (w *world) handle(e event) { handlers[e.kind](w, w.hosts[max(0, int(e.host))], e) }
