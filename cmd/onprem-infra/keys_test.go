//go:build remote

package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight/report"
	"github.com/onprem-infra/onprem-infra/shared/host/readiness"
	"github.com/onprem-infra/onprem-infra/shared/operator/overview"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/routed"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestKeys_AreInCamelCase holds that every key of what a verb prints as JSON is spelt in one way, and
// that a median is called one.
func TestKeys_AreInCamelCase(t *testing.T) {
	known := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if known[of] {
			return
		}
		known[of] = true
		for i := range of.NumField() {
			field := of.Field(i)
			key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if strings.ContainsAny(key, "_-") && key != "-" || key != "" && strings.ToLower(key[:1]) != key[:1] {
				t.Errorf("%v.%s is %q: write it in camelCase", of, field.Name, key)
			}
			if strings.HasPrefix(key, "mid") {
				t.Errorf("%v.%s is %q: write median, as other rows do", of, field.Name, key)
			}
			walk(field.Type)
		}
	}
	for _, printed := range []any{
		overview.View{}, overview.Host{}, status.Report{}, diagnose.Report{}, readiness.Report{},
		report.Report{}, report.DiskRow{}, simulate.Row{}, routed.Row{}, both.Link{}, both.Routers{},
		provisioning.Row{}, spec.Finding{},
	} {
		walk(reflect.TypeOf(printed))
	}
	if len(known) < 20 {
		t.Errorf("only %d types were looked at", len(known))
	}
}
