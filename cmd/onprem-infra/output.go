package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/host/output"
	"github.com/onprem-infra/onprem-infra/shared/near"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
)

// writing is how a verb writes what it has made, by its flags.
type writing struct {
	std   streams
	place output.Place
	quiet bool
}

// writingFlags gives a verb the flags --out, --force, --dry-run and --quiet.
func writingFlags(cmd *cobra.Command, std streams, what string) *writing {
	w := &writing{std: std}
	cmd.Flags().StringVar(&w.place.Path, "out", "", what)
	cmd.Flags().BoolVar(&w.place.DryRun, "dry-run", false,
		"report what would be written, and write nothing")
	w.forceFlags(cmd)
	return w
}

// forceFlags gives a verb the flags --force and --quiet.
func (w *writing) forceFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&w.place.Force, "force", false,
		"write over files that onprem-infra has not written")
	cmd.Flags().BoolVarP(&w.quiet, "quiet", "q", false,
		"do not report what was written, nor any progress")
}

// formatFlag gives a verb the flag -o with the formats that it prints; the first is the default.
func formatFlag(cmd *cobra.Command, use string, forms ...string) *string {
	format := cmd.Flags().StringP("output", "o", forms[0], use)
	completes(cmd, "output", forms)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if !slices.Contains(forms, *format) {
			return usage("-o %q is not one of: %s", *format, strings.Join(forms, ", "))
		}
		return nil
	}
	return format
}

// toFile reports whether there is a file to write; without one it is standard output.
func (w *writing) toFile() bool { return w.place.Path != "" && w.place.Path != "-" }

// reads notes what the verb reads, which it must not write over.
func (w *writing) reads(inputs ...string) {
	for _, name := range inputs {
		if name != "" {
			w.place.Inputs = append(w.place.Inputs, name)
		}
	}
}

// document writes one file, or to standard output.
func (w *writing) document(data []byte, ours func(text []byte) bool) error {
	if !w.toFile() {
		if w.place.DryRun {
			return w.report("would write %d bytes to standard output\n", len(data))
		}
		_, err := w.std.out.Write(data)
		return err
	}
	done, err := w.place.Document(data, ours)
	switch {
	case err != nil:
		return refused(err)
	case w.place.DryRun:
		return w.report("would write %s: %s\n", done.Path, done.Action)
	}
	return w.report("wrote %s\n", done.Path)
}

// directory refuses a value of --out that no tree can be written to, before anything is read
// below it.
func (w *writing) directory() error {
	switch w.place.Path {
	case "":
		return usage("--out is missing: name a directory")
	case "-":
		return usage("--out - is standard output, which takes no tree: name a directory, ./- if " +
			"it is called so")
	}
	return refused(w.place.Directory())
}

// tree writes files below the directory of --out, and removes those at the paths in leave.
func (w *writing) tree(files []asset.File, leave []string,
	ours func(path string, text []byte) bool) error {
	done, err := w.place.Tree(files, leave, ours)
	if err != nil {
		return refused(err)
	}
	count := map[output.Action]int{}
	var list strings.Builder
	for _, o := range done {
		count[o.Action]++
		if w.place.DryRun && o.Action != output.Keep {
			fmt.Fprintf(&list, "%-8s %s\n", o.Action, filepath.Join(w.place.Path, o.Path))
		}
	}
	if _, err := io.WriteString(w.std.out, list.String()); err != nil {
		return err
	}
	text := fmt.Sprintf("wrote %d files to %s", len(files), w.place.Path)
	if w.place.DryRun {
		text = fmt.Sprintf("would write %d files to %s: %d new, %d changed, %d as they are",
			len(files), w.place.Path, count[output.Create], count[output.Change],
			count[output.Keep])
	}
	if n := count[output.Remove]; n > 0 {
		text += fmt.Sprintf(", %d removed", n)
	}
	return w.report("%s\n", text)
}

// report prints what was done, unless the verb is to be quiet.
func (w *writing) report(format string, args ...any) error {
	if w.quiet {
		return nil
	}
	return printMessage(w.std.err, format, args...)
}

// refused gives an error that the user can fix the exit code for that.
func refused(err error) error {
	input, place := output.InputError{}, output.PlaceError{}
	if errors.As(err, &input) || errors.As(err, &place) {
		return usage("%w", err)
	}
	if foreign := (output.ForeignError{}); errors.As(err, &foreign) {
		return negative(err)
	}
	return err
}

// allFormats are the formats that any verb prints.
func allFormats() []string {
	return []string{"text", "json", "yaml", htmlForm, ignitionForm, machineConfigForm, butaneForm}
}

// format reads the value of -o of a verb whose -o named the file to write up to the last release.
// A value that is no format is still a file, with a warning.
func (w *writing) format(value string, forms []string) (string, error) {
	known := strings.Join(forms, ", ")
	wrong := fmt.Sprintf("-o %q is not one of: %s", value, known)
	meant := near.Word(value, forms)
	switch {
	case slices.Contains(forms, value):
		return value, nil
	case value == "":
		return forms[0], nil
	case meant != "" && !isPath(value) && w.place.Path == "":
		return "", usage("%s: is it %s that you mean? A file of that name is --out %s",
			wrong, meant, value)
	case meant != "" && !isPath(value):
		return "", usage("%s: is it %s that you mean?", wrong, meant)
	case w.place.Path != "":
		return "", usage("%s; the file to write is that of --out, %s", wrong, w.place.Path)
	case slices.Contains(allFormats(), value),
		near.Word(value, allFormats()) != "" && !isPath(value):
		return "", usage("%s; a file of that name is --out %s", wrong, value)
	}
	w.place.Path = value
	_ = printMessage(w.std.err,
		"onprem-infra: warning: -o %s: a file is named with --out, and -o is the "+
			"format (%s): write --out %s; the next release refuses this\n", value, known, value)
	return forms[0], nil
}

// isPath reports whether a value can be nothing else than the name of a file.
func isPath(value string) bool { return strings.ContainsAny(value, "./") }

// htmlForm is the format of pages.
const htmlForm = "html"

// page writes a page of pictures.
func (w *writing) page(page timeline.Page) error {
	var text bytes.Buffer
	if err := page.Write(&text); err != nil {
		return err
	}
	return w.document(text.Bytes(), timeline.IsPage)
}

// unmarked is for outputs that nothing marks as ours: no file that is there is taken for one.
func unmarked([]byte) bool { return false }
