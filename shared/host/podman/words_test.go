//go:build remote

package podman

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestSame(t *testing.T) {
	id := strings.Repeat("0123456789abcdef", 4)
	for _, tt := range []struct{ text, want string }{
		{text: "connection refused", want: "connection refused"},
		{text: "a\n\tb", want: "a b"},
		{text: "mkdir /var/lib/containers/storage/overlay/" + id + ": no space left on device", want: "mkdir /var/lib/containers/storage/overlay/*: no space left on device"},
		{text: "write /root/.tmp-layers.json2776062200: no space left on device", want: "write /root/.tmp-layers.json*: no space left on device"},
		{text: "dial 192.0.2.10:65535: exit code 137", want: "dial 192.0.2.10:65535: exit code 137"},
	} {
		if got := same(errors.New(tt.text)).Error(); got != tt.want {
			t.Errorf("same(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
	if same(nil) != nil || !errors.Is(same(context.Canceled), context.Canceled) {
		t.Error("what needs no other words must stay what it is")
	}
}
