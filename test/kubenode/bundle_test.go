package kubenode

import (
	"strings"
	"testing"

	config "github.com/coreos/ignition/v2/config/v3_3"
	"github.com/vincent-petithory/dataurl"
)

// TestDocument has Ignition's own reader accept the document without a warning.
func TestDocument(t *testing.T) {
	text, err := Document(Joining{Name: "w2", Bundle: "http://192.0.2.4:8080/node.tar", Kubeconfig: []byte("users: []\n"), CA: []byte("CA 100%\n")})
	if err != nil {
		t.Fatal(err)
	}
	document, report, err := config.Parse(text)
	if err != nil || len(report.Entries) > 0 {
		t.Fatalf("%v, %v", err, report)
	}
	files := map[string]string{}
	for _, f := range document.Storage.Files {
		content, err := dataurl.DecodeString(*f.Contents.Source)
		if err != nil {
			t.Fatalf("%s: %v", f.Path, err)
		}
		files[f.Path] = string(content.Data)
	}
	if files["/etc/hostname"] != "w2\n" || files["/var/lib/kubelet/ca.crt"] != "CA 100%\n" || !strings.Contains(files["/etc/kubernetes/kubelet.yaml"], `clientCAFile: "/var/lib/kubelet/ca.crt"`) {
		t.Errorf("%q", files)
	}
	var units []string
	for _, u := range document.Systemd.Units {
		units = append(units, *u.Contents)
	}
	for _, want := range []string{`"http://192.0.2.4:8080/node.tar"`, "--hostname-override=w2 "} {
		if !strings.Contains(strings.Join(units, ""), want) {
			t.Errorf("no unit has %s", want)
		}
	}
}
