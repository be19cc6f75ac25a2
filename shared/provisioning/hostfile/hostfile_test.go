package hostfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

func example() File {
	return File{CA: "PEM", Hosts: []Host{{Name: "master-0", Username: secret.New("admin"), Password: secret.New("p4ss-W0rd"),
		Ignition: secret.New(`{"ignition":{}}`), RootDisk: rootdisk.Hints{SerialNumber: "A1"}}}}
}

func TestFile_ReadAsWritten(t *testing.T) {
	f, err := Decode(Encode(example()))
	if err != nil || len(f.Hosts) != 1 || f.CA != "PEM" {
		t.Fatalf("read %+v, %v", f, err)
	}
	h, ok := f.Of("master-0")
	if !ok || h.Password.Reveal() != "p4ss-W0rd" || h.Username.Reveal() != "admin" || h.Ignition.Reveal() != `{"ignition":{}}` ||
		h.RootDisk.SerialNumber != "A1" {
		t.Errorf("%+v is not what was written", h)
	}
	if _, ok := f.Of("master-1"); ok {
		t.Error("a host that is not listed was found")
	}
	if text := fmt.Sprintf("%+v %#v", f, f); strings.Contains(text, "p4ss") {
		t.Errorf("a secret is printed: %s", text)
	}
}

// What is wrong with the file is said without its content.
func TestDecode_Refused(t *testing.T) {
	good := string(Encode(example()))
	for _, text := range []string{"", good[:len(good)/2], strings.Replace(good, `"p4ss-W0rd"`, `{"p4ss-W0rd":1}`, 1),
		strings.Replace(good, `"version": 1`, `"version": 2`, 1), good + good, good + "p4ss"} {
		f, err := Decode([]byte(text))
		if err == nil || strings.Contains(err.Error(), "p4ss") || len(f.Hosts) > 0 {
			t.Errorf("%q: read %+v, %v", text, f, err)
		}
	}
}
