package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// TestMostFindings holds how many findings there are at most, and what stands for the rest of them.
func TestMostFindings(t *testing.T) {
	const unknown = "there is no such field: remove it, or use one of baseDomain, clusterDomain"
	for _, tt := range []struct {
		name   string
		fields int
		tail   string // of warnings, after the fields
		len    int
		last   string
	}{
		{"none", 0, "", 0, ""},
		{"as many", document.Most, "", document.Most, "c:1010:3: error: spec.f999: " + unknown},
		{"one more", document.Most + 1, "", document.Most + 1, "c:1011:3: error: document: and 1 more from here on: fix the first 1000"},
		{"many more", 50_000, "", document.Most + 1, "c:1011:3: error: document: and 49000 more from here on: fix the first 1000"},
		{"a warning more", document.Most, "  dnsVIP: 192.0.2.7\n  loadBalancer: UserManaged\n", document.Most + 1, "c:1011:11: warning: document: and 1 more from here on: fix the first 1000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.fields > 2*document.Most && testing.Short() {
				t.Skip("slow")
			}
			var text strings.Builder
			text.WriteString(goodCluster)
			for i := range tt.fields {
				fmt.Fprintf(&text, "  f%03d: a\n", i)
			}
			text.WriteString(tt.tail)
			cluster, findings := Parse("c", []byte(text.String()), Knobs{})
			hold(t, text.String(), findings)
			if len(findings) != tt.len || findings.HasErrors() != (tt.len > 0) || (cluster.Name == "") != (tt.len > 0) {
				t.Fatalf("%d findings, errors %v, cluster %q, want %d", len(findings), findings.HasErrors(), cluster.Name, tt.len)
			}
			if tt.len > 0 && !strings.HasPrefix(findings[tt.len-1].String(), tt.last) {
				t.Errorf("the last is %s, want %s", findings[tt.len-1], tt.last)
			}
		})
	}
}

// TestMostFindingsOfWarnings holds that an error among those left out stops the compiler, and that
// none of them does when none is one.
func TestMostFindingsOfWarnings(t *testing.T) {
	for _, last := range []Severity{Warning, Error} {
		all := make(Findings, document.Most+2)
		for i := range all {
			all[i] = Finding{File: "c", Line: 1, Column: 1 + i, Severity: Warning, Path: "a", Text: "b: remove it"}
		}
		all[document.Most+1].Severity = last
		got := all.First()
		if len(got) != document.Most+1 || got.HasErrors() != (last == Error) || got[document.Most].Severity != last {
			t.Errorf("%s: %d findings, the last is %s", last, len(got), got[len(got)-1])
		}
	}
}
