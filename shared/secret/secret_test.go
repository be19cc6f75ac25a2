package secret_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/secret"
)

const planted = "s3cret"

type account struct {
	Name     string
	Password secret.Text
	inner    secret.Text
}

func values() map[string]any {
	t := secret.New(planted)
	a := account{"admin", t, t}
	return map[string]any{"text": t, "pointer": &t, "struct": a, "pointer to struct": &a, "list": []secret.Text{t},
		"map": map[string]secret.Text{"a": t}, "interface": []any{t}, "in a struct in a list": []account{a}}
}

// TestWord holds that a secret ends neither a word nor a line of what it is written into.
func TestWord(t *testing.T) {
	for _, text := range []string{"a", "\"'\\#!{}<&>", "\u00fc", "\U0001f600", strings.Repeat("x", 1000)} {
		if !secret.New(text).Word() {
			t.Errorf("%q is no word", text)
		}
	}
	for _, text := range []string{"", " ", "a b", "a\tb", "a\nb", "a\rb", "a\x00b", "a\x7f", "\u0085", "\u00a0", "\u2028"} {
		if secret.New(text).Word() {
			t.Errorf("%q is a word", text)
		}
	}
	if (secret.Text{}).Word() {
		t.Error("none is a word")
	}
}

// TestPrint prints secrets under every verb, by themselves and inside of other values, also in
// fields whose methods package fmt does not call.
func TestPrint(t *testing.T) {
	for name, v := range values() {
		for _, verb := range "vsqxXdTgptbcoUeEfFGO" {
			for _, flag := range []string{"", "+", "#", " ", "0", "-", "20", ".3"} {
				got := fmt.Sprintf("%"+flag+string(verb), v)
				for _, bad := range []string{planted, fmt.Sprintf("%x", planted), fmt.Sprintf("%X", planted), fmt.Sprint([]byte(planted))} {
					if strings.Contains(got, bad) {
						t.Errorf("%s: %%%s%c prints %s", name, flag, verb, got)
					}
				}
			}
		}
		if got := fmt.Sprint(v) + fmt.Sprintln(v); strings.Contains(got, planted) {
			t.Errorf("%s: %s", name, got)
		}
	}
	s := secret.New(planted)
	if got := s.String() + s.GoString() + s.LogValue().String(); strings.Contains(got, planted) {
		t.Error(got)
	}
	if err := fmt.Errorf("log in as %v with %v", "admin", s); strings.Contains(err.Error(), planted) {
		t.Error(err)
	}
}

// TestLog writes secrets to both of slog's handlers.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		for name, v := range values() {
			slog.New(h).Info("msg", name, v, slog.Group("g", "v", v))
		}
	}
	if strings.Contains(out.String(), planted) {
		t.Error(out.String())
	}
}

// TestEncode holds that no encoder writes a secret: each one fails, or leaves it out.
func TestEncode(t *testing.T) {
	text := secret.New(planted)
	for name, encode := range map[string]func(any) ([]byte, error){
		"json": json.Marshal,
		"yaml": yaml.Marshal,
		"xml":  xml.Marshal,
		"gob": func(v any) ([]byte, error) {
			var out bytes.Buffer
			err := gob.NewEncoder(&out).Encode(v)
			return out.Bytes(), err
		},
	} {
		for what, v := range map[string]any{"alone": text, "in a struct": account{Password: text}} {
			if out, err := encode(v); err == nil || strings.Contains(string(out), planted) {
				t.Errorf("%s of a secret %s: %q, %v", name, what, out, err)
			} else if strings.Contains(err.Error(), planted) {
				t.Error(err)
			}
		}
	}
	if out, err := json.Marshal(map[secret.Text]int{text: 1}); err == nil {
		t.Errorf("a secret became a key: %s", out)
	}
}

func TestReveal(t *testing.T) {
	for text, empty := range map[string]bool{planted: false, "": true, " ": false} {
		if s := secret.New(text); s.Reveal() != text || s.Empty() != empty || !reflect.DeepEqual(s, secret.New(text)) {
			t.Errorf("%q is revealed as %q, empty %v", text, s.Reveal(), s.Empty())
		}
	}
	if zero := (secret.Text{}); zero.Reveal() != "" || !zero.Empty() || fmt.Sprint(zero) != "[hidden]" {
		t.Errorf("the zero value is %v", zero)
	}
	if reflect.DeepEqual(secret.New("a"), secret.New("b")) {
		t.Error("two secrets are equal")
	}
}
