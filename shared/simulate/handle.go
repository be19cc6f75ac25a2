package simulate

// handle does what is due.
func (w *world) handle(e event) {
	h := w.hosts[max(0, int(e.host))]
	switch e.kind {
	case evFault:
		w.begin(w.faults[e.arg], e.arg)
	case evHealed:
		w.heal(h, w.faults[e.arg], e.arg, e.gen)
	case evAdvert:
		w.arrive(h, advert{from: w.hosts[e.other], priority: int(e.arg)})
	case evTimer:
		w.expire(h, e.gen)
	case evTrack:
		w.readTracks(h, e.gen)
	case evAddress:
		w.address(h, e.gen)
	case evDrop:
		w.drop(h, e.gen)
	case evARP:
		w.announce(h, e.gen)
	case evStart:
		w.startRouter(h, e.gen)
	case evStrip:
		w.strip(h, e.gen)
	case evThaw:
		w.thaw(h, e.gen)
	case evLeave:
		w.leaveNow(h, e.gen)
	case evSettled:
		w.settled(h, e.gen)
	case evBonus:
		w.bonus(h, state(e.arg), e.gen)
	default:
		w.handleHealth(h, e)
	}
}

// handleHealth is handle for what elections are about.
func (w *world) handleHealth(h *host, e event) {
	switch e.kind {
	case evSilent:
		w.silent(h, e.gen)
	case evQuit:
		w.quit(h, e.gen)
	case evLook:
		w.look(h, int(e.other), e.gen)
	case evFinding:
		w.found(h, int(e.other), e.arg, e.gen)
	case evServer:
		w.lookAtServer(h, w.hosts[e.other], e.arg, e.gen)
	case evMonitor:
		w.monitor(h, e.arg, e.gen)
	case evRedirect:
		w.redirect(h, e.arg != 0, e.gen)
	case evServed:
		w.seeServed(h, e.gen)
	case evLearn:
		w.learn(h, w.hosts[e.other], e.arg != 0)
	case evRelease:
		w.lookAtAPI(h, e.arg, e.gen)
	case evOrder:
		w.powerOff(h)
	case evPart:
		w.startPart(h, part(e.arg), e.gen)
	case evClient:
		w.client.ask(w)
	}
}
