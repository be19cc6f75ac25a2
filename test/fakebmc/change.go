package fakebmc

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// post answers a login or an action.
func (b *BMC) post(w http.ResponseWriter, r *http.Request, p string, q Quirks) {
	in, ok := body(w, r)
	if !ok {
		return
	}
	if p == sessionsPath {
		b.openSession(w, in, q)
		return
	}
	parts := strings.Split(strings.TrimPrefix(p, rootPath+"/"), "/")
	if len(parts) < 4 || b.find(parts[1]) == nil {
		fail(w, http.StatusNotFound, "ResourceMissingAtURI", "there is no "+p)
		return
	}
	m := b.find(parts[1])
	switch {
	case parts[0] == "Systems" && parts[3] == "ComputerSystem.Reset":
		kind, _ := in["ResetType"].(string)
		b.reset(w, m, kind, q)
	case len(parts) == 6 && parts[2] == "VirtualMedia" && !q.NoInsert:
		b.media(w, m, parts[3], parts[5], in)
	default:
		fail(w, http.StatusBadRequest, "ActionNotSupported", "there is no such action")
	}
}

func (b *BMC) openSession(w http.ResponseWriter, in object, q Quirks) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.changed(q) || in["UserName"] != b.options.User || in["Password"] != b.options.Password:
		fail(w, http.StatusUnauthorized, "InsufficientPrivilege", "wrong user or password")
		return
	case q.SessionLimit > 0 && len(b.sessions)+q.OtherSessions >= q.SessionLimit:
		fail(w, http.StatusServiceUnavailable, "SessionLimitExceeded", "no more sessions")
		return
	}
	token := newToken()
	b.sessions[token] = true
	p := sessionsPath + "/" + token
	w.Header().Set("X-Auth-Token", token)
	w.Header().Set("Location", p)
	session := resource(p, "Session.v1_2_1.Session", "Session")
	session["UserName"] = b.options.User
	write(w, http.StatusCreated, session)
}

func (b *BMC) deleteSession(w http.ResponseWriter, p string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	token, ok := strings.CutPrefix(p, sessionsPath+"/")
	if !ok || !b.sessions[token] {
		fail(w, http.StatusNotFound, "ResourceMissingAtURI", "there is no "+p)
		return
	}
	delete(b.sessions, token)
	w.WriteHeader(http.StatusNoContent)
}

// reset changes a machine's power.
func (b *BMC) reset(w http.ResponseWriter, m *machine, kind string, q Quirks) {
	if !slices.Contains(resetTypes, kind) {
		fail(w, http.StatusBadRequest, "ActionParameterNotSupported", "no such ResetType")
		return
	}
	m.powering.Lock()
	defer m.powering.Unlock()
	if err := b.observe(); err != nil {
		fail(w, http.StatusInternalServerError, "InternalError", err.Error())
		return
	}
	b.mu.Lock()
	on := m.On
	early := time.Since(m.offAt) < q.ConflictAfterOff
	b.mu.Unlock()
	starts := kind == "On" || kind == "ForceOn"
	if starts && early {
		fail(w, http.StatusConflict, "ResourceInUse", "the machine is being switched off")
		return
	}
	var err error
	if on && !starts {
		err = b.power(m, Change{Graceful: kind == "GracefulShutdown"})
	}
	if err == nil && (starts && !on || kind == "PowerCycle" || strings.HasSuffix(kind, "Restart")) {
		err = b.power(m, Change{On: true})
	}
	if err != nil {
		fail(w, http.StatusInternalServerError, "InternalError", err.Error())
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// power switches a machine. An override that counts once is used up by a start.
func (b *BMC) power(m *machine, change Change) error {
	b.mu.Lock()
	change = m.from(change)
	copied := m.Machine
	b.mu.Unlock()
	if b.options.Power != nil {
		if err := b.options.Power(copied, change); err != nil {
			return err
		}
	}
	if change.Graceful && b.options.IsOn != nil {
		return nil // the machine's operating system ends it, or ignores the request
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	m.On = change.On
	if !change.On {
		m.offAt = time.Now()
	} else {
		m.started()
	}
	return nil
}

// from adds what the machine starts from. The lock is held.
func (m *machine) from(change Change) Change {
	change.Boot, change.Mode, change.Media, change.HTTP = "Hdd", m.mode, m.slots["Cd"], m.http
	if m.enabled != "Disabled" && m.target != "None" {
		change.Boot = m.target
	}
	return change
}

// started ends an override that counts once. The lock is held.
func (m *machine) started() {
	if m.enabled == "Once" {
		m.enabled, m.target = "Disabled", "None"
	}
}

// Restart is what a machine starts from when it has reset itself, without the BMC. An override that
// counts once is used up. An unknown machine starts from its disk.
func (b *BMC) Restart(id string) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.find(id)
	if m == nil {
		return Change{On: true, Boot: "Hdd", Mode: "UEFI"}
	}
	change := m.from(Change{On: true})
	m.started()
	return change
}

// media inserts an image, or ejects one.
func (b *BMC) media(w http.ResponseWriter, m *machine, slot, action string, in object) {
	b.mu.Lock()
	defer b.mu.Unlock()
	image, _ := in["Image"].(string)
	_, known := m.slots[slot]
	switch {
	case !known:
		fail(w, http.StatusNotFound, "ResourceMissingAtURI", "there is no such slot")
		return
	case action == "VirtualMedia.EjectMedia":
		if !b.quirks.MediaStuck {
			m.slots[slot] = ""
		}
	case action != "VirtualMedia.InsertMedia":
		fail(w, http.StatusBadRequest, "ActionNotSupported", "there is no such action")
		return
	case image == "":
		fail(w, http.StatusBadRequest, "ActionParameterMissing", "Image is missing")
		return
	case m.slots[slot] != "":
		fail(w, http.StatusBadRequest, "ResourceInUse", "media are inserted")
		return
	default:
		m.slots[slot] = image
	}
	w.WriteHeader(http.StatusNoContent)
}

// patch changes a machine's boot override, or secure boot.
func (b *BMC) patch(w http.ResponseWriter, r *http.Request, p string, q Quirks) {
	in, ok := body(w, r)
	if !ok {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	document := b.documents(q)[p]
	id, part, _ := strings.Cut(strings.TrimPrefix(p, rootPath+"/Systems/"), "/")
	m := b.find(id)
	switch match := r.Header.Get("If-Match"); {
	case document == nil || m == nil:
		fail(w, http.StatusNotFound, "ResourceMissingAtURI", "there is no "+p)
	case match != "" && match != "*" && match != etag(document):
		fail(w, http.StatusPreconditionFailed, "PreconditionFailed", "the resource has changed")
	case part == "SecureBoot":
		enable, ok := in["SecureBootEnable"].(bool)
		if !ok {
			fail(w, http.StatusBadRequest, "PropertyUnknown", "want SecureBootEnable")
			return
		}
		m.SecureBoot = enable
		w.WriteHeader(http.StatusNoContent)
	default:
		boot, _ := in["Boot"].(map[string]any)
		m.override(w, boot, q)
	}
}

// override sets the boot override; it changes all or nothing.
func (m *machine) override(w http.ResponseWriter, boot object, q Quirks) {
	target, enabled, mode, address := m.target, m.enabled, m.mode, m.http
	for key, value := range boot {
		text, ok := value.(string)
		valid := ok
		switch key {
		case "BootSourceOverrideTarget":
			target, valid = text, slices.Contains(bootSources, text)
		case "BootSourceOverrideEnabled":
			enabled = text
			valid = slices.Contains([]string{"Disabled", "Once", "Continuous"}, text)
		case "BootSourceOverrideMode":
			mode, valid = text, text == "UEFI" || text == "Legacy"
		case "HttpBootUri":
			address, valid = text, ok || value == nil // null takes a former one away
		default:
			fail(w, http.StatusBadRequest, "PropertyUnknown", "there is no property "+key)
			return
		}
		if !valid {
			fail(w, http.StatusBadRequest, "PropertyValueNotInList", key+" has no such value")
			return
		}
	}
	switch {
	case len(boot) == 0:
		fail(w, http.StatusBadRequest, "PropertyMissing", "want Boot")
	case mode != m.mode && m.On && q.ModeRefusedOn:
		fail(w, http.StatusInternalServerError, "InternalError", "the machine is on")
	default:
		m.target, m.enabled, m.mode, m.http = target, enabled, mode, address
		w.WriteHeader(http.StatusNoContent)
	}
}
