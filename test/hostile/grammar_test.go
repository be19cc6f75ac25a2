package hostile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"
	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// A grammar reads a file as strictly as it is written, and returns what no value may change about
// it: one entry a line, an option or a value. It knows less than the daemon does: what the daemon
// would read as more than a word must not be in a word at all.
type grammar func(text []byte) ([]string, error)

var (
	comment = regexp.MustCompile(`^# [^\x00-\x1f\x7f]+$`)
	plain   = regexp.MustCompile(`^[A-Za-z0-9_.:/-]+$`)
	// What CoreDNS gets beside plain words: regular expressions of names, a port, and the zone of a
	// link-local address.
	pattern = regexp.MustCompile(`^\^(\(\[\^\.\\\\\]\+\\\.\)\+)?[a-z0-9-]+(\\\.[a-z0-9-]+)*\\\.\$$`)
	zoned   = regexp.MustCompile(`^[0-9a-f:.]+%[A-Za-z0-9_.-]+$`)
	record  = regexp.MustCompile(`^"(\{\{ \.Name \}\} 30 IN (A [0-9.]+|AAAA [0-9a-f:.]+)|\{\{ \.Name \}\} 0 IN TXT [0-9a-f]{12}|\{\{ \.Zone \}\} 30 IN SOA \{\{ \.Zone \}\} nobody\.invalid\. [0-9 ]+)"$`)
	image   = regexp.MustCompile(`^"ONPREM_INFRA_IMAGE=([^"\\%\x00-\x1f\x7f]|%%|\\["\\]|\\x[0-9a-f]{2})*"$`)
	setting = regexp.MustCompile(`^(\[[A-Za-z]+\]|[A-Za-z]+=[A-Za-z0-9.~ -]*)$`)
)

// keepalivedConf reads blocks in braces, words in lines.
func keepalivedConf(text []byte) ([]string, error) {
	return blocks(text, func(word string) bool { return plain.MatchString(word) })
}

// corefile reads the same, with quotes around records.
func corefile(text []byte) ([]string, error) {
	return blocks(text, func(word string) bool {
		return plain.MatchString(word) || pattern.MatchString(word) || zoned.MatchString(word) || record.MatchString(word)
	})
}

// quoted is a word of blanks and all.
var quoted = regexp.MustCompile(`"[^"]*"|[^ "]+`)

func blocks(text []byte, word func(string) bool) ([]string, error) {
	var shape []string
	depth := 0
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		words := quoted.FindAllString(line, -1)
		switch {
		case i == 0 && comment.MatchString(line):
			shape = append(shape, "#")
			continue
		case line == "":
			continue
		case len(words) == 0 || strings.Join(words, " ") != strings.TrimLeft(line, " "):
			return nil, fmt.Errorf("line %d is not words with a blank between: %q", i+1, line)
		}
		last := words[len(words)-1]
		if last == "}" {
			depth--
		}
		if indent := len(line) - len(strings.TrimLeft(line, " ")); indent != 4*depth {
			return nil, fmt.Errorf("line %d stands at depth %d: %q", i+1, depth, line)
		}
		shape = append(shape, fmt.Sprint(depth, words[0], len(words)))
		if last == "{" {
			depth++
		}
		if last == "{" || last == "}" && len(words) == 1 {
			words = words[:len(words)-1]
		}
		if i := slices.IndexFunc(words, func(w string) bool { return !word(w) }); i >= 0 {
			return nil, fmt.Errorf("%q is no word, in %q", words[i], line)
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("%d blocks do not end", depth)
	}
	return shape, nil
}

// systemdUnit reads as systemd's own library does. The only value that varies is the image.
func systemdUnit(text []byte) ([]string, error) {
	options, err := unit.DeserializeOptions(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	var shape []string
	for _, o := range options {
		if strings.Contains(o.Value, "ONPREM_INFRA_IMAGE") {
			if !image.MatchString(o.Value) {
				return nil, fmt.Errorf("%q is not one variable in quotes", o.Value)
			}
			o.Value = ""
		}
		shape = append(shape, fmt.Sprintf("%s %s %q", o.Section, o.Name, o.Value))
	}
	return shape, nil
}

// settings reads systemd-resolved's sections and keys.
func settings(text []byte) ([]string, error) {
	var shape []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); !setting.MatchString(line) {
			return nil, fmt.Errorf("%q is no setting", line)
		}
		key, value, _ := strings.Cut(line, "=")
		shape = append(shape, fmt.Sprint(key, len(strings.Fields(value))))
	}
	return shape, nil
}

// lists are those of texts in a document, in any layout.
var lists = regexp.MustCompile(`\[[^][{]*\]`)

// clusterJSON reads JSON that is written in the one way that there is: sorted, each key once, lists
// on one line.
func clusterJSON(text []byte) ([]string, error) {
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	again, err := json.MarshalIndent(document, "", "  ")
	again = lists.ReplaceAllFunc(again, func(list []byte) []byte {
		words := bytes.Join(bytes.Fields(list), []byte(" "))
		return bytes.ReplaceAll(bytes.ReplaceAll(words, []byte("[ "), []byte("[")), []byte(" ]"), []byte("]"))
	})
	if err != nil || !bytes.Equal(append(again, '\n'), text) {
		return nil, fmt.Errorf("is not the one form of its JSON (%v):\n%s", err, text)
	}
	return jsonShape("", document), nil
}

// podYAML reads a manifest by the type that kubelet reads it by, and then as a document whose words
// are single words of one line.
func podYAML(text []byte) ([]string, error) {
	if _, err := manifest.Pod(text); err != nil {
		return nil, err
	}
	var document any
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	var broken error
	walk(document, func(word string) {
		if word != management && !plain.MatchString(word) && !flag.MatchString(word) {
			broken = fmt.Errorf("%q is no word", word)
		}
	})
	return jsonShape("", document), broken
}

// management is the one value of a pod that is a document itself.
const management = `{"effect": "PreferredDuringScheduling"}`

// flag is what commands get beside plain words: a flag with its value, an image with its digest,
// the options of a socket.
var flag = regexp.MustCompile(`^(--[a-z-]*(=[a-z]+)?|[A-Za-z0-9_.:/-]+@sha(256|384|512):[0-9a-f]+|[A-Za-z0-9_./-]+(,[a-z0-9]+)+)$`)

func walk(v any, word func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, field := range v {
			walk(field, word)
		}
	case []any:
		for _, element := range v {
			walk(element, word)
		}
	case string:
		word(v)
	}
}

func jsonShape(at string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		var shape []string
		for key, field := range v {
			if strings.HasSuffix(at, "/spec/timingProof") {
				key = "HOST" // which users choose
			}
			shape = append(shape, jsonShape(at+"/"+key, field)...)
		}
		slices.Sort(shape)
		return slices.Compact(shape)
	case []any:
		var shape []string
		for i, element := range v {
			shape = append(shape, jsonShape(fmt.Sprint(at, "/", i), element)...)
		}
		return shape
	}
	return []string{fmt.Sprintf("%s %T", at, v)}
}
