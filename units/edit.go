package units

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"
)

// change is an edit of a unit's options. An error means that the unit's file does not have the
// option to edit: no input causes that.
type change func([]*unit.UnitOption) ([]*unit.UnitOption, error)

// edit is an embedded file with changes, without its comments; verbatim if nothing changes.
func edit(name string, changes []change) []byte {
	source := text(name)
	edited, err := apply(source, changes)
	if err != nil {
		panic(fmt.Sprintf("edit %s: %v", name, err))
	}
	if same, _ := apply(source, nil); bytes.Equal(edited, same) {
		return source
	}
	return edited
}

func apply(source []byte, changes []change) ([]byte, error) {
	options, err := unit.DeserializeOptions(bytes.NewReader(source))
	for _, change := range changes {
		if err == nil {
			options, err = change(options)
		}
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unit.Serialize(options))
}

// rename replaces the unit old in a list of the section Unit.
func rename(key, old, other string) change {
	return func(options []*unit.UnitOption) ([]*unit.UnitOption, error) {
		for _, o := range options {
			words := strings.Fields(o.Value)
			if i := slices.Index(words, old); i >= 0 && o.Section == "Unit" && o.Name == key {
				words[i] = other
				o.Value = strings.Join(words, " ")
				return options, nil
			}
		}
		return nil, fmt.Errorf("the unit has no %s=%s", key, old)
	}
}

// after orders a unit after another one.
func after(other string) change {
	return func(options []*unit.UnitOption) ([]*unit.UnitOption, error) {
		i := slices.IndexFunc(options, func(o *unit.UnitOption) bool { return o.Section != "Unit" })
		if i <= 0 {
			return nil, errors.New("the unit does not begin with a section Unit")
		}
		return slices.Insert(options, i, unit.NewUnitOption("Unit", "After", other)), nil
	}
}

// setEnvironment sets a variable.
func setEnvironment(name, value string) change {
	return func(options []*unit.UnitOption) ([]*unit.UnitOption, error) {
		for _, o := range options {
			if o.Name == "Environment" && strings.HasPrefix(o.Value, name+"=") {
				o.Value = quote(name + "=" + value)
				return options, nil
			}
		}
		return nil, fmt.Errorf("the unit has no Environment=%s=", name)
	}
}

// quote writes one word of a list such as Environment=, so that systemd reads back exactly s: in
// double quotes with C escapes (systemd.syntax(7)), the specifier sign doubled (systemd.unit(5)).
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '%':
			b.WriteString("%%")
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// openShifts are the units and files of OpenShift's hosts that our units name.
var openShifts = []string{
	"crio-wipe.service", "kubelet-dependencies.target", "ovs-configuration.service",
	"-/etc/mco/proxy.env",
}

// fit removes openShifts from the options, unless the host is one of OpenShift.
func (h Host) fit(options []*unit.UnitOption) ([]*unit.UnitOption, error) {
	return slices.DeleteFunc(options, func(o *unit.UnitOption) bool {
		words := strings.Fields(o.Value)
		left := slices.DeleteFunc(slices.Clone(words), func(w string) bool {
			return !h.OpenShift && slices.Contains(openShifts, w)
		})
		if len(left) < len(words) {
			o.Value = strings.Join(left, " ")
		}
		return len(left) == 0 && len(words) > 0
	}), nil
}
