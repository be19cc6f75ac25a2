package ledger

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

func entry(i int) ledger.Entry {
	return ledger.Entry{Time: time.Unix(int64(i), 0).UTC(), Kind: ledger.Joined, Host: "m" + strings.Repeat("x", i%7)}
}

func TestFile(t *testing.T) {
	f := File(filepath.Join(t.TempDir(), "state", "journal.jsonl"))
	if all, err := f.Read(); err != nil || all != nil {
		t.Errorf("without a file: %v, %v", all, err)
	}
	var want []ledger.Entry
	for i := range 5 {
		if err := f.Append(entry(i)); err != nil {
			t.Fatal(err)
		}
		want = append(want, entry(i))
	}
	if err := f.Append(); err != nil {
		t.Fatal(err)
	}
	if all, err := f.Read(); err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("%v, %v", all, err)
	}
	if info, err := os.Stat(string(f)); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Dir(string(f))); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}

// What follows a torn line is no part of it.
func TestFile_Torn(t *testing.T) {
	f := File(filepath.Join(t.TempDir(), "journal.jsonl"))
	text := string(ledger.Encode(entry(1))) + `{"time":"2026`
	if err := os.WriteFile(string(f), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(entry(2)); err != nil {
		t.Fatal(err)
	}
	if all, err := f.Read(); err != nil || !reflect.DeepEqual(all, []ledger.Entry{entry(1), entry(2)}) {
		t.Errorf("%v, %v", all, err)
	}
}

func TestFile_Shortened(t *testing.T) {
	f := File(filepath.Join(t.TempDir(), "journal.jsonl"))
	all := []ledger.Entry{{Time: entry(0).Time, Kind: ledger.Phase, Phase: progress.DHCPOff}}
	long := ledger.Entry{Kind: ledger.Failed, Host: "m", Verb: "manage", Cause: strings.Repeat("x", 1000)}
	var text []byte
	for len(text) < ledger.MaxFile-2000 {
		all = append(all, long)
		text = append(text, ledger.Encode(all[len(all)-1])...)
	}
	text = append(ledger.Encode(all[0]), text...)
	if err := os.WriteFile(string(f), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Append(long, long, long); err != nil {
		t.Fatal(err)
	}
	got, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(string(f)); info.Size() > ledger.MaxFile*3/4 {
		t.Errorf("%d bytes", info.Size())
	}
	if want := ledger.Fold(append(all, long, long, long)); !reflect.DeepEqual(ledger.Fold(got), want) {
		t.Errorf("%+v, want %+v", ledger.Fold(got), want)
	}
}

func TestFile_Broken(t *testing.T) {
	f := File(filepath.Join(t.TempDir(), "journal.jsonl"))
	if err := os.WriteFile(string(f), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Error(err)
	}
	if err := os.Truncate(string(f), 4*ledger.MaxFile+1); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
	if err := f.Append(entry(1)); err == nil {
		t.Error("a journal that cannot be read was written")
	}
}
