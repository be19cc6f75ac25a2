package notice

import (
	"strings"
	"time"
)

// Handover names the object in which the bootstrap machine publishes how far it has handed
// provisioning over. It is for people: no program begins, ends or writes anything by it, but by
// what it has seen by itself. "hosts release" and "hosts add" wait while it has a machine that
// provisions.
const Handover = "onprem-infra-provisioning-handover"

// Progress is what that object has. The zero value is none.
type Progress struct {
	Phase   string    // of the bootstrap machine, as its status has it
	Since   time.Time // of Phase
	Machine string    // the bootstrap machine's name
	Waits   string    // what the phase waits for
	At      time.Time // when it was written
}

// mostText bounds each text that is read and written, in bytes.
const mostText = 1 << 10

// Same reports whether two have the same phase of the same machine, whatever it waits for.
func (p Progress) Same(o Progress) bool {
	return p.Phase == o.Phase && p.Machine == o.Machine && p.Since.Equal(o.Since)
}

// EncodeHandover makes the data of the object. Its times are whole seconds.
func EncodeHandover(p Progress) map[string]string {
	return map[string]string{"phase": short(p.Phase), "machine": short(p.Machine),
		"waits": short(p.Waits), "since": p.Since.UTC().Format(time.RFC3339),
		"at": p.At.UTC().Format(time.RFC3339)}
}

// ReadHandover reads such data, all of it or nothing: data that no program of ours has written is
// the zero value.
func ReadHandover(data map[string]string) (p Progress) {
	for _, text := range data {
		if len(text) > mostText {
			return Progress{}
		}
	}
	p = Progress{Phase: data["phase"], Machine: data["machine"], Waits: data["waits"]}
	var errs [2]error
	p.Since, errs[0] = time.Parse(time.RFC3339, data["since"])
	p.At, errs[1] = time.Parse(time.RFC3339, data["at"])
	if errs != [2]error{} || p.Phase == "" || p.Machine == "" {
		return Progress{}
	}
	return p
}

// short cuts a text to mostText bytes, so that ReadHandover accepts it.
func short(text string) string {
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "")
	}
	return text
}
