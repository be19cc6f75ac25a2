// Package orders reads and writes the files by which the phase machine of a bootstrap machine and
// the parts that provision hosts communicate. Package shared/provisioning/orders describes them.
package orders

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// limit is more than the orders for a thousand hosts need, in bytes.
const limit = 1 << 20

// Dir is the path of the directory of the files, which systemd creates.
type Dir string

// Run is the directory on a bootstrap machine.
const Run Dir = layout.Run

// File is the path of the orders, for those that watch it.
func (d Dir) File() string { return d.at(layout.Orders) }

// ReportFile is the path of a part's report.
func (d Dir) ReportFile(p orders.Part) string { return d.at(layout.Report(string(p))) }

func (d Dir) at(path string) string { return filepath.Join(string(d), filepath.Base(path)) }

// Read returns the orders, none if nobody has written any since the machine booted.
func (d Dir) Read() (orders.Orders, error) { return read(d.File(), orders.DecodeOrders) }

// Write replaces the orders.
func (d Dir) Write(o orders.Orders) error {
	return file.Write(d.File(), orders.EncodeOrders(o), 0o644)
}

// ReadReport returns the last report of a part; the zero report if it has written none since the
// machine booted.
func (d Dir) ReadReport(p orders.Part) (orders.Report, error) {
	r, err := read(d.ReportFile(p), orders.DecodeReport)
	if err == nil && r.Part != p && r != (orders.Report{}) {
		return orders.Report{}, fmt.Errorf("%s is the report of part %q", d.ReportFile(p), r.Part)
	}
	return r, err
}

// WriteReport replaces the report of a part.
func (d Dir) WriteReport(r orders.Report) error {
	return file.Write(d.ReportFile(r.Part), orders.EncodeReport(r), 0o644)
}

// ProgressFile is the path of what the phase machine reports of itself.
func (d Dir) ProgressFile() string { return d.at(layout.Progress) }

// ReadProgress returns what the phase machine has reported of itself. It is an fs.ErrNotExist if it
// has reported nothing since the machine booted.
func (d Dir) ReadProgress() (progress.Progress, error) {
	text, err := bounded(d.ProgressFile(), progress.Most)
	if err != nil {
		return progress.Progress{}, err
	}
	p, err := progress.Decode(text)
	if err != nil {
		return progress.Progress{}, fmt.Errorf("%s: %w", d.ProgressFile(), err)
	}
	return p, nil
}

// RewriteFile is the path of what a person allows for a host.
func (d Dir) RewriteFile(host string) string { return d.at("rewrite-" + host + ".json") }

// ReadRewrite returns what a person allows for a host; the zero value if that is nothing, or was
// before the machine booted.
func (d Dir) ReadRewrite(host string) (orders.Rewrite, error) {
	r, err := read(d.RewriteFile(host), orders.DecodeRewrite)
	if err == nil && r.Host != host && r != (orders.Rewrite{}) {
		return orders.Rewrite{}, fmt.Errorf("%s is about the host %q", d.RewriteFile(host), r.Host)
	}
	return r, err
}

// WriteRewrite allows it. Only the directory's owner may.
func (d Dir) WriteRewrite(r orders.Rewrite) error {
	return file.Write(d.RewriteFile(r.Host), orders.EncodeRewrite(r), 0o644)
}

// ReversalFile is the path of what a person asks of the handover.
func (d Dir) ReversalFile() string { return d.at("reversal.json") }

// ReadReversal returns what a person asks of the handover; the zero value if that is nothing, or
// was before the machine booted.
func (d Dir) ReadReversal() (orders.Reversal, error) {
	return read(d.ReversalFile(), orders.DecodeReversal)
}

// WriteReversal asks for it. Only the directory's owner may.
func (d Dir) WriteReversal(r orders.Reversal) error {
	return file.Write(d.ReversalFile(), orders.EncodeReversal(r), 0o644)
}

// AcceptancesFile is the path of what a person accepts of the preflight.
func (d Dir) AcceptancesFile() string { return d.at("accepted.json") }

// ReadAcceptances returns what a person accepts of the preflight; none if that is nothing, or was
// before the machine booted: the journal has it then.
func (d Dir) ReadAcceptances() ([]orders.Acceptance, error) {
	return read(d.AcceptancesFile(), orders.DecodeAcceptances)
}

// WriteAcceptances accepts them, and no others. Only the directory's owner may.
func (d Dir) WriteAcceptances(all []orders.Acceptance) error {
	return file.Write(d.AcceptancesFile(), orders.EncodeAcceptances(all), 0o644)
}

// read decodes a file. One that does not exist is the zero value.
func read[T any](path string, decode func([]byte) (T, error)) (T, error) {
	var none T
	text, err := bounded(path, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	v, err := decode(text)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// bounded reads a file of at most so many bytes.
func bounded(path string, most int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s is longer than %d bytes", path, most)
	}
	return text, err
}
