package supervised

import (
	"encoding"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// came is by which version of CandidateFile each field of a configuration came. A supervisor reads
// only the fields of its version: one that is added needs a new version here, in candidateVersion
// and in versionOf. The fields of a version that has been released never change.
var came = map[int]string{
	1: `header notifyFIFO leave
checks[].name checks[].command checks[].interval checks[].timeout checks[].rise checks[].fall
checks[].weight
tracks[].name tracks[].file tracks[].weight
groups[].name groups[].members[] groups[].tracks[]
instances[].name instances[].interface instances[].id instances[].version instances[].priority
instances[].advert instances[].refresh instances[].source instances[].peers[] instances[].authPass
instances[].vip instances[].checks[] instances[].tracks[] instances[].grouped instances[].known
instances[].near`,
	2: `instances[].device instances[].bits`,
}

// TestVersionOf holds that the version of a candidate is that of its newest field, so that an older
// supervisor goes on reading what it knows, and names the version that it lacks for what it does
// not know.
func TestVersionOf(t *testing.T) {
	want := map[string]int{}
	for version, fields := range came {
		for field := range strings.FieldsSeq(fields) {
			want[field] = version
		}
	}
	got := map[string]int{}
	var config keepalived.Config
	each("", reflect.ValueOf(&config).Elem(), func(field string) {
		got[field] = versionOf(config)
	})
	for field, version := range got {
		if want[field] == 0 {
			t.Errorf("%s has no version: a supervisor of an earlier release does not read it", field)
		} else if version != want[field] {
			t.Errorf("%s makes a candidate of version %d, want %d", field, version, want[field])
		}
	}
	for field := range want {
		if got[field] == 0 {
			t.Errorf("%s is gone, and monitors of an earlier release write it", field)
		}
	}
	if newest := slices.Max(slices.Collect(maps.Keys(came))); candidateVersion != newest {
		t.Errorf("this release reads version %d, want %d", candidateVersion, newest)
	}
}

// each sets each field below a value in turn, alone, and visits it by its JSON path.
func each(path string, v reflect.Value, visit func(string)) {
	_, text := v.Interface().(encoding.TextMarshaler)
	switch {
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		each(path+"[]", v.Index(0), visit)
	case v.Kind() == reflect.Struct && !text:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" && path != "" {
				name = "." + name
			}
			each(path+name, v.Field(i), visit)
		}
		return
	default:
		v.Set(set(v.Type()))
		visit(path)
	}
	v.SetZero()
}

// set is a value of a type that is not zero.
func set(of reflect.Type) reflect.Value {
	switch of.Kind() {
	case reflect.String:
		return reflect.ValueOf("set").Convert(of)
	case reflect.Bool:
		return reflect.ValueOf(true)
	case reflect.Struct:
		return reflect.ValueOf(netip.MustParseAddr("192.0.2.5"))
	}
	return reflect.ValueOf(1).Convert(of)
}

// TestDecodeCandidate_Versions holds that the candidates of all versions so far are read.
func TestDecodeCandidate_Versions(t *testing.T) {
	first, newest := whole(), whole()
	for i := range first.Instances {
		first.Instances[i].Device, first.Instances[i].Bits = "", 0
	}
	for version, config := range map[int]keepalived.Config{1: first, 2: newest} {
		file, _ := EncodeCandidate(config)
		if got, _ := head(file); got != version {
			t.Errorf("the candidate has version %d, want %d", got, version)
		}
		if got, err := DecodeCandidate(file); err != nil || !reflect.DeepEqual(got, config) {
			t.Errorf("version %d: %v\n%+v", version, err, got)
		}
	}
}
