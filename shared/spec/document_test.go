package spec

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

const fix = `: fix this line or the one before it, and put text with special characters in quotes`

func TestDocument(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", `c:1:1: error: document: is empty: write an install-config or a cluster.yaml; "onprem-infra example" prints one`},
		{"comments", "# nothing\n---\n# here\n", `c:1:1: error: document: is empty: write an install-config or a cluster.yaml; "onprem-infra example" prints one`},
		{"null", "null", `c:1:1: error: document: is empty: write an install-config or a cluster.yaml; "onprem-infra example" prints one`},
		{"text", "hello", `c:1:1: error: document: want a map, got a string: write a map here`},
		{"list", "- a", `c:1:1: error: document: want a map, got a list: write a map here`},
		{"empty map", "{}", `c:1:1: error: apiVersion: is missing: write v1 in an install-config, onprem-infra.io/v1alpha1 in a cluster.yaml`},
		{"two documents", "a: 1\n---\n\nb: 2\n", `c:4:1: error: document: a second document begins here: keep one document in the file`},
		{"tab", "metadata:\n\tname: prod\n", `c:2:1: error: document: a tab indents this line, where YAML allows spaces only: replace the tab by spaces`},
		{"tab after spaces", "metadata:\n  a: b\n  \tname: prod\n", `c:3:3: error: document: a tab indents this line, where YAML allows spaces only: replace the tab by spaces`},
		{"list not closed", "a: 1\nb: [1,\nc: 2\n", `c:2:1: error: document: is not YAML here: did not find expected ',' or ']'` + fix},
		{"two colons", "a: 1\nb: c: d\n", `c:2:1: error: document: is not YAML here: mapping values are not allowed in this context` + fix},
		{"indentation", "a:\n    b: 1\n  c: 2\n", `c:3:3: error: document: is not YAML here: did not find expected key` + fix},
		{"key far below", "a:\n  b: 1\n  c: 2\n  d: 3\n e: 4\nf: 5\ng: 6\n", `c:5:2: error: document: is not YAML here: did not find expected key` + fix},
		{"dash far below", "a:\n- b\n- c\n- d\n  e\n f: 1\nf: 5\ng: 6\n", `c:6:2: error: document: is not YAML here: mapping values are not allowed in this context` + fix},
		{"quote not closed", "a: 1\nb: \"x\nc: 1\nd: 2\n", `c:2:1: error: document: is not YAML here: found unexpected end of stream` + fix},
		{"quote inside", "a: 1\nb: 'it's'\nc: 1\nd: 2\n", `c:3:1: error: document: is not YAML here: did not find expected key` + fix},
		{"brace not closed", "a: 1\nb: {\nc: 1\nd: 2\n", `c:2:1: error: document: is not YAML here: did not find expected ',' or '}'` + fix},
		{"key without colon", "a: 1\nb\nc: 1\nd: 2\n", `c:2:1: error: document: is not YAML here: could not find expected ':'` + fix},
		{"tag", "a: 1\nb: !x!y\nc: 1\nd: 2\n", `c:2:1: error: document: is not YAML here: found undefined tag handle` + fix},
		{"percent", "a: 1\nb: %x\nc: 1\nd: 2\n", `c:2:1: error: document: is not YAML here: found character that cannot start any token` + fix},
		{"at", "a: 1\nb: @s3cret\nc: 1\nd: 2\n", `c:2:1: error: document: is not YAML here: found character that cannot start any token` + fix},
		{"first line", "a: b: c", `c:1:1: error: document: is not YAML here: mapping values are not allowed in this context` + fix},
		{"secret taken for an alias", "a: 1\npassword: *s3cret\n", `c:2:1: error: document: is not YAML here: an alias (*) without its anchor (&)` + fix},
		{"not UTF-8", "a: 1\nb: \xff\xfe\n", `c:2:4: error: document: holds a byte that is not text in UTF-8: save the file as UTF-8 without control characters`},
		{"UTF-16", "\xff\xfea\x00", `c:1:1: error: document: holds a byte that is not text in UTF-8: save the file as UTF-8 without control characters`},
		{"zero byte", "a: 1\nü: \x00\n", `c:2:4: error: document: holds a byte that is not text in UTF-8: save the file as UTF-8 without control characters`},
		{"escape", "a: \x1b[31m\n", `c:1:4: error: document: holds a byte that is not text in UTF-8: save the file as UTF-8 without control characters`},
		{"aliases that explode", "sshKey:\n " + strings.TrimSuffix(strings.ReplaceAll(bomb(), "\n", "\n "), " ") + goodInstallConfig, `c:8:5: error: document: its aliases unfold it to more than 1048576 values: write out what is needed`},
		{"alias in itself", "a: 1\nb: &b {c: [*b]}\n", `c:1:1: error: apiVersion: is missing: write v1 in an install-config, onprem-infra.io/v1alpha1 in a cluster.yaml
c:2:12: error: document: this alias stands inside its own anchor, without an end: write the value out`},
		{"too long", strings.Repeat("#", document.Limit+1), `c:1:1: error: document: has more than 1048576 bytes: give an install-config or a cluster.yaml and nothing else`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, findings := Parse("c", []byte(tt.text), Knobs{})
			hold(t, tt.text, findings)
			if got := strings.TrimSuffix(lines(findings), "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if strings.Contains(lines(findings), secret) {
				t.Error("a finding repeats a secret")
			}
		})
	}
}

func TestDocumentForms(t *testing.T) {
	for name, text := range map[string]string{
		"byte order mark":      "\ufeff" + goodCluster,
		"carriage returns":     strings.ReplaceAll(goodCluster, "\n", "\r\n"),
		"separators":           "---\n" + goodCluster + "---\n",
		"aliases":              strings.NewReplacer("[192.0.2.0/24]", "&n [192.0.2.0/24]", "apiVIPs:", "# *n\n  apiVIPs:").Replace(goodCluster),
		"JSON":                 `{"apiVersion":"onprem-infra.io/v1alpha1","kind":"Cluster","metadata":{"name":"prod"},"spec":{` + "\n\t" + `"baseDomain":"example.com","platform":"none","apiVIPs":["192.0.2.5"],"ingressVIPs":["192.0.2.6"]}}`,
		"comments of any text": goodCluster + "# \u00fc \u2026\n",
	} {
		if cluster, findings := Parse("c", []byte(text), Knobs{}); len(findings) > 0 || cluster.Name != "prod" {
			t.Errorf("%s: %s", name, lines(findings))
		}
	}
}

// spellings is every spelling of a key with another case, each with a value.
func spellings(key string) string {
	var b strings.Builder
	for i := range 1 << len(key) {
		for j, c := range []byte(key) {
			b.WriteByte(c - byte(i>>j&1)*('a'-'A'))
		}
		b.WriteString(": b, ")
	}
	return b.String()
}

// bomb is 26 lines that unfold to 9 to the power of 26 words.
func bomb() string {
	text := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		text += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+",", 9), ",") + "]\n"
	}
	return text
}

// worked is the processors' time that this process has taken, which other processes do not
// lengthen.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// numbered are so many directories, each with a comma before it.
func numbered(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, ",/a/%d", i)
	}
	return all.String()
}

// TestBounds holds that no input of the longest length keeps the reader busy, whatever it is made
// of.
func TestBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	fill := func(head, piece string) string {
		return head + strings.Repeat(piece, (document.Limit-len(head)-300)/len(piece))
	}
	list := func(indent string) string { return goodInstallConfig[:strings.Index(goodInstallConfig, indent)] }
	for name, text := range map[string]string{
		"too long":          strings.Repeat("a: b\n", 300_000),
		"deep lists":        fill("", "["),
		"deep maps":         fill("", "{a: "),
		"deep blocks":       fill("", "- "),
		"deep keys":         fill("", "? "),
		"comments":          fill("", "#\n"),
		"documents":         fill("", "---\n"),
		"one word":          fill("", "a"),
		"quotes":            fill("a: \"", "\\u0041"),
		"equal keys":        fill("", "a: b\n"),
		"equal deep keys":   fill("", "{a: 1, a: "),
		"anchors":           fill("", "- &a b\n"),
		"aliases":           bomb() + strings.Replace(goodCluster, "[192.0.2.5]", "*z", 1),
		"aliases in itself": "apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster\nmetadata: &m {name: prod}\nspec: &s {images: *s, vrids: *s, ports: *m, baseDomain: *s, apiVIPs: [*s]}\n",
		"hosts by alias":    fill("h: &h {"+strings.Repeat("a: b, ", 50_000)+"name: x}\n"+list("    - name"), "    - *h\n"),
		"hosts":             fill(list("    - name"), "    - {name: a}\n"),
		"VIPs":              fill(list("[192.0.2.5]")+"\n", "    - 192.0.2.5\n"),
		"networks":          fill(list("  - cidr"), "  - {cidr: 192.0.2.0/24}\n"),
		"BMCs":              fill(list("    - name"), "    - {name: a, bmc: {address: a}}\n"),
		"states by alias":   fill("n: &n {"+strings.Repeat("a: b, ", 50_000)+"interfaces: [{name: x}]}\n"+list("    - name"), "    - {bmc: {}, networkConfig: *n}\n"),
		"cards":             fill("n: &n {interfaces: ["+strings.Repeat("{name: a}, ", 5_000)+"]}\n"+list("    - name"), "    - {bmc: {}, networkConfig: *n}\n"),
		"MACs":              fill(goodCluster+"  provisioning:\n    macs:\n", "    - 52:54:00:00:00:01\n"),
		"spellings":         fill("h: &h {"+spellings("bootmacaddress")+"name: x}\n"+list("    - name"), "    - *h\n"),
		"directories":       goodCluster + "  certificateDirectories: [/etc" + numbered(100_000) + "]\n",
		"unknown fields":    fill(goodCluster, "  ?: a\n"),
		"unknown ports":     fill(goodCluster+"  ports:\n", "    a: 1\n"),
	} {
		start := worked(t)
		_, findings := Parse("c", []byte(text), Knobs{})
		took := worked(t) - start
		t.Logf("%-18s %8v %7d findings", name, took.Round(time.Millisecond), len(findings))
		if took > 5*time.Second {
			t.Errorf("%s: %v for %d bytes", name, took, len(text))
		}
		if name == "too long" && (len(findings) != 1 || took > time.Second) {
			t.Errorf("%s: %d findings in %v", name, len(findings), took)
		}
		if !findings.HasErrors() {
			t.Errorf("%s: no finding", name)
		}
	}
}
