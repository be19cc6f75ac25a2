package orders

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

func TestDir_ReadAsWritten(t *testing.T) {
	d := Dir(t.TempDir())
	if o, err := d.Read(); err != nil || !reflect.DeepEqual(o, orders.Orders{}) {
		t.Errorf("before the first: %+v, %v", o, err)
	}
	if r, err := d.ReadReport(orders.HTTP); err != nil || r != (orders.Report{}) {
		t.Errorf("before the first: %+v, %v", r, err)
	}
	want := orders.Orders{Generation: 3, On: []orders.Part{orders.Address, orders.HTTP}, Why: "deploy"}
	report := orders.Report{Part: orders.HTTP, Generation: 3, On: true, At: time.Unix(1_700_000_000, 0).UTC()}
	for range 2 { // the second replaces the first
		if err := d.Write(want); err != nil {
			t.Fatal(err)
		}
		if err := d.WriteReport(report); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Read(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, %v, want %+v", got, err, want)
		}
		if got, err := d.ReadReport(orders.HTTP); err != nil || got != report {
			t.Errorf("read %+v, %v, want %+v", got, err, report)
		}
		want.Generation++
		report.Generation++
	}
	if r, err := d.ReadReport(orders.DHCP); err != nil || r != (orders.Report{}) {
		t.Errorf("one part's report is another's: %+v, %v", r, err)
	}
}

// TestDir_Acceptances holds that what a person accepts is read as it was written, and that a file of
// nothing accepts nothing.
func TestDir_Acceptances(t *testing.T) {
	d := Dir(t.TempDir())
	if all, err := d.ReadAcceptances(); err != nil || len(all) > 0 {
		t.Errorf("before the first: %+v, %v", all, err)
	}
	at := time.Unix(1_700_000_000, 0).UTC()
	want := []orders.Acceptance{{Check: "ra-foreign", Of: at, At: at, Why: "the site's router"}}
	if err := d.WriteAcceptances(want); err != nil {
		t.Fatal(err)
	}
	if got, err := d.ReadAcceptances(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
	for _, text := range []string{"", "{}", `{"version":1,"content":[{"check":"ra-foreign"}]}`, `{"version":1,"content":[{"of":"2026-11-20T10:00:03Z"}]}`} {
		if err := os.WriteFile(d.AcceptancesFile(), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if all, err := d.ReadAcceptances(); err == nil {
			t.Errorf("%q accepts %+v", text, all)
		}
	}
}

func TestDir_Refused(t *testing.T) {
	d := Dir(t.TempDir())
	for name, text := range map[string]string{
		"empty":   "",
		"cut off": string(orders.EncodeOrders(orders.Orders{Why: "deploy"})[:20]),
		"long":    `{"version":1,"content":{"why":"` + strings.Repeat("x", limit) + `"}}`,
	} {
		for _, path := range []string{d.File(), d.ReportFile(orders.DHCP)} {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if o, err := d.Read(); err == nil || len(o.On) > 0 || !strings.Contains(err.Error(), d.File()) {
			t.Errorf("%s: %+v, %v, want an error with the file's name", name, o, err)
		}
		if r, err := d.ReadReport(orders.DHCP); err == nil || r.Ready {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	r := orders.Report{Part: orders.HTTP, Ready: true}
	if err := os.WriteFile(d.ReportFile(orders.DHCP), orders.EncodeReport(r), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := d.ReadReport(orders.DHCP); err == nil || got.Ready {
		t.Errorf("the report of another part: %+v, %v", got, err)
	}
}

// The paths of a bootstrap machine are those that its other programs know.
func TestRun_Layout(t *testing.T) {
	if Run.File() != layout.Orders || Run.ReportFile(orders.DHCP) != layout.Report("dhcp") {
		t.Errorf("the files are %s and %s", Run.File(), Run.ReportFile(orders.DHCP))
	}
	if err := Dir(filepath.Join(t.TempDir(), "absent")).Write(orders.Orders{}); err == nil {
		t.Error("a directory was created")
	}
}

// TestDir_Progress holds that what the phase machine reports is read whole or not at all, and never
// without a bound.
func TestDir_Progress(t *testing.T) {
	d := Dir(t.TempDir())
	if _, err := d.ReadProgress(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	text := string(progress.Encode(progress.Progress{Phase: progress.Deploy}))
	for _, tt := range []struct{ text, want string }{
		{text, ""},
		{text[:len(text)/2], d.ProgressFile()},
		{text + strings.Repeat(" ", progress.Most), "longer than"},
	} {
		if err := os.WriteFile(d.ProgressFile(), []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := d.ReadProgress()
		if tt.want == "" && (err != nil || p.Phase != progress.Deploy) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%d bytes: %+v, %v, want %q", len(tt.text), p, err, tt.want)
		}
	}
}
