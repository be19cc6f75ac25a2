package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/redact"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
)

// Decode reads what "kubectl get -o json" has printed, or several of such outputs one after the
// other: a list, or an object alone. ours is false for any other text, such as a journal. What
// cannot be read is in the world's Unread, in words, and the rest is read all the same.
func Decode(text []byte) (w workers.World, ours bool) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("apiVersion:")) {
		w.Unread = []string{"it is YAML: save the objects with 'kubectl get -o json'"}
		return w, true
	}
	d := decoder{in: json.NewDecoder(bytes.NewReader(text)), others: map[string]int{}}
	for {
		is, err := d.document()
		ours = ours || is
		if !ours {
			return workers.World{}, false
		}
		if errors.Is(err, io.EOF) && !is {
			break
		}
		if err != nil {
			d.unread(fmt.Sprintf("line %d: what follows cannot be read: %v: save the objects "+
				"again", 1+bytes.Count(text[:d.in.InputOffset()], []byte("\n")), reason(err)))
			break
		}
	}
	d.ignored()
	return d.w, true
}

// reason is an error of the decoder for people.
func reason(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends within an object")
	}
	return err
}

// decoder reads documents.
type decoder struct {
	in     *json.Decoder
	w      workers.World
	others map[string]int // objects of other kinds, by kind
}

// mostUnread bounds the list of what cannot be read.
const mostUnread = 20

func (d *decoder) unread(what ...string) {
	for _, one := range what {
		if len(d.w.Unread) < mostUnread {
			d.w.Unread = append(d.w.Unread, redact.Message(one))
		}
	}
}

// document reads one top-level object of the file. ours reports whether it is one of an API: a
// list, or an object that names its version. The error is io.EOF at the end of the text.
func (d *decoder) document() (ours bool, err error) {
	begin, err := d.in.Token()
	if err != nil {
		return false, err
	}
	if begin != json.Delim('{') {
		return false, errors.New("it is no object")
	}
	single := map[string]json.RawMessage{}
	list := false
	for d.in.More() {
		key, err := d.in.Token()
		if err != nil {
			return ours, cut(err)
		}
		switch key {
		case "items":
			ours, list = true, true
			if err := d.items(); err != nil {
				return ours, err
			}
			continue
		case "apiVersion":
			ours = true
		}
		var value json.RawMessage
		if err := d.in.Decode(&value); err != nil {
			return ours, cut(err)
		}
		name, _ := key.(string)
		single[name] = value
	}
	if _, err := d.in.Token(); err != nil {
		return ours, cut(err)
	}
	if !ours {
		d.others["no object of an API"]++
	}
	if ours && !list {
		whole, err := json.Marshal(single)
		if err != nil {
			return ours, err
		}
		d.object(whole)
	}
	return ours, nil
}

// cut is an error within a document: io.EOF becomes io.ErrUnexpectedEOF there.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// items reads the objects of a list.
func (d *decoder) items() error {
	begin, err := d.in.Token()
	if err != nil {
		return cut(err)
	}
	if begin == nil {
		return nil // null, as Go writes a nil list
	}
	if begin != json.Delim('[') {
		return errors.New("its items are no list")
	}
	for d.in.More() {
		var one json.RawMessage
		if err := d.in.Decode(&one); err != nil {
			return cut(err)
		}
		d.object(one)
	}
	_, err = d.in.Token()
	return cut(err)
}

// object takes in one object, if it is of a kind that is asked for.
func (d *decoder) object(text []byte) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		d.unread(fmt.Sprintf("an object: %v", err))
		return
	}
	var err error
	group, _, _ := strings.Cut(head.APIVersion, "/")
	switch head.Kind + "." + group {
	case "BareMetalHost.metal3.io":
		err = read(text, func(h Host) {
			d.place(h.Metadata.Namespace)
			add(d, &d.w.Hosts)(h.Worker())
		})
	case "Machine.machine.openshift.io":
		err = read(text, func(m Machine) { d.w.Machines = append(d.w.Machines, m.Worker()) })
	case "Node.v1":
		err = read(text, func(n Node) { add(d, &d.w.Nodes)(n.Worker()) })
	case "Deployment.apps":
		if !isIronic(head.Metadata.Namespace, head.Metadata.Name) {
			return // each cluster has many
		}
		d.place(head.Metadata.Namespace)
		err = read(text, func(o Deployment) {
			is, odd := o.Ironic()
			is.Pods = o.Pods()
			d.unread(odd...)
			d.w.Ironic = is
		})
	case "Provisioning.metal3.io":
		err = read(text, func(p Provisioning) { d.w.Operator = p.Operator() })
	case "ConfigMap.v1":
		if head.Metadata.Name != notice.Handover {
			return // as above
		}
		err = read(text, func(c ConfigMap) { d.w.Handed = notice.ReadHandover(c.Data) })
	default:
		d.others[fmt.Sprintf("%.60s %.60s", head.APIVersion, head.Kind)]++
		return
	}
	if err == nil && head.Metadata.Name == "" {
		err = errors.New("it has no name")
	}
	if err != nil {
		d.unread(fmt.Sprintf("the %s %q: %v", head.Kind, head.Metadata.Name, err))
	}
}

// isIronic reports whether a Deployment is that of the cluster's own Ironic.
func isIronic(namespace, name string) bool {
	return slices.ContainsFunc(places(), func(p object.Place) bool {
		return p.Namespace == namespace && p.Ironic == name
	})
}

func places() []object.Place {
	return []object.Place{object.OpenShiftHosts(), object.AnyHosts()}
}

// place notes where the cluster has its hosts, by the first object that is there.
func (d *decoder) place(namespace string) {
	for _, p := range places() {
		if p.Namespace == namespace && d.w.Place == (object.Place{}) {
			d.w.Place = p
		}
	}
}

// read decodes one object, and passes it to take if it has a name.
func read[T any](text []byte, take func(T)) error {
	var one T
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	var named struct{ Metadata struct{ Name string } }
	if err := json.Unmarshal(text, &named); err != nil || named.Metadata.Name == "" {
		return err
	}
	take(one)
	return nil
}

// add adds what an object is to a list.
func add[T any](d *decoder, to *[]T) func(T, []string) {
	return func(one T, odd []string) {
		d.unread(odd...)
		*to = append(*to, one)
	}
}

// ignored notes the objects of other kinds.
func (d *decoder) ignored() {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(d.others)) {
		all = append(all, fmt.Sprintf("%d of %q", d.others[kind], kind))
	}
	const most = 5
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more kinds", len(all)-most))
	}
	if len(all) > 0 {
		d.unread("objects of other kinds than BareMetalHost, Machine of OpenShift, Node, " +
			"Deployment, Provisioning and ConfigMap are left out: " + strings.Join(all, ", "))
	}
}
