package fakebmc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
)

// object is a JSON object.
type object = map[string]any

func ref(p string) object { return object{"@odata.id": p} }

func refs(paths ...string) []object {
	all := []object{}
	for _, p := range paths {
		all = append(all, ref(p))
	}
	return all
}

func collection(p, kind string, members ...string) object {
	return object{
		"@odata.id": p, "@odata.type": fmt.Sprintf("#%[1]sCollection.%[1]sCollection", kind),
		"Name": kind, "Members@odata.count": len(members), "Members": refs(members...),
	}
}

// resource is what each resource has.
func resource(p, kind, name string) object {
	return object{
		"@odata.id": p, "@odata.type": "#" + kind, "Id": path.Base(p), "Name": name,
		"Status": object{"State": "Enabled", "Health": "OK", "HealthRollup": "OK"},
	}
}

func write(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // the FAKE's own documents
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func etag(document object) string {
	body, _ := json.Marshal(document)
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// fail is an error as DSP0266 has it.
func fail(w http.ResponseWriter, status int, id, message string) {
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "30")
	}
	write(w, status, object{"error": object{
		"code": "Base.1.8." + id, "message": message,
		"@Message.ExtendedInfo": []object{{
			"@odata.type": "#Message.v1_1_1.Message", "MessageId": "Base.1.8." + id,
			"Message": message, "Severity": "Critical", "Resolution": "None",
		}},
	}})
}

// get answers with a document.
func (b *BMC) get(w http.ResponseWriter, p string, q Quirks) {
	if err := b.observe(); err != nil {
		fail(w, http.StatusInternalServerError, "InternalError", err.Error())
		return
	}
	b.mu.Lock()
	document := b.documents(q)[p]
	b.mu.Unlock()
	if document == nil {
		fail(w, http.StatusNotFound, "ResourceMissingAtURI", "there is no "+p)
		return
	}
	if state, ok := document["PowerState"].(string); ok && q.Flapping && b.flap() {
		document["PowerState"] = map[string]string{"On": "PoweringOff", "Off": "PoweringOn"}[state]
	}
	if q.Loose {
		document = loosen(document)
	}
	w.Header().Set("ETag", etag(document))
	write(w, http.StatusOK, document)
}

// flap is whether this power state is to be wrong: the first is, and then each second one.
func (b *BMC) flap() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flaps++
	return b.flaps%2 == 1
}

// observe asks the machines themselves for their power.
func (b *BMC) observe() error {
	if b.options.IsOn == nil {
		return nil
	}
	for _, m := range b.machines {
		on, err := b.options.IsOn(m.ID)
		if err != nil {
			return fmt.Errorf("power state of %s: %w", m.ID, err)
		}
		b.mu.Lock()
		m.On = on
		b.mu.Unlock()
	}
	return nil
}

// body reads a request's object; without a body it is empty, as EjectMedia's may be.
func body(w http.ResponseWriter, r *http.Request) (object, bool) {
	all, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	out := object{}
	if err == nil && len(all) > 0 {
		err = json.Unmarshal(all, &out)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "MalformedJSON", err.Error())
		return nil, false
	}
	return out, true
}

// loosen writes a document as careless BMCs do.
func loosen(document object) object {
	out := object{}
	for key, value := range document {
		switch v := value.(type) {
		case int:
			out[key] = fmt.Sprint(v)
		case float64:
			out[key] = fmt.Sprint(v)
		case int64:
			out[key] = fmt.Sprint(v)
		case bool:
			out[key] = fmt.Sprint(v)
		case string:
			if out[key] = any(v); key == "Model" || key == "Manufacturer" {
				out[key] = nil
			}
		case []string:
			out[key] = object{"0": v}
		case object:
			out[key] = loosen(v)
		case []object:
			all := []object{}
			for _, o := range v {
				all = append(all, loosen(o))
			}
			out[key] = all
		default:
			out[key] = value
		}
	}
	return out
}

// spoil answers in the place of the service if a quirk asks for it.
func (q Quirks) spoil(w http.ResponseWriter, r *http.Request, p string) bool {
	below := p != "/redfish" && p != "/redfish/v1"
	switch {
	case q.Booting:
		fail(w, http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", "starting")
	case q.RedirectLoop:
		http.Redirect(w, r, r.URL.Path+"x", http.StatusPermanentRedirect)
	case q.RedirectAway != "":
		http.Redirect(w, r, q.RedirectAway, http.StatusTemporaryRedirect)
	case q.HTML && below:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Log in</title>")
	case q.Huge && below:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"Name":"`+strings.Repeat("x", 8<<20)+`"}`)
	case q.Endless && below:
		endless(w, r)
	default:
		return false
	}
	return true
}

func endless(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, err := io.WriteString(w, `{"Members":[`)
	for err == nil && r.Context().Err() == nil {
		_, err = io.WriteString(w, strings.Repeat(`{"a":[[]]},`, 1000))
	}
}
