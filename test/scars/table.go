// Package scars maps the bug history of the systems that went before, and of this one, to the tests
// that keep the bugs from coming back. The table is TABLE.md: for each scar its tests and at most
// one defect, a change of the product with which the first of them fails. `make scars` puts each
// defect into a copy of the tree and sees that test fail.
package scars

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Scar is one entry of the bug history. It has tests, or Open says why not; it has both where a
// part of it belongs to what is not here.
type Scar struct {
	ID     string // as tests' names and comments spell it: K-01
	Was    string // what went wrong
	Tests  []Test
	Defect Defect // with which the first of Tests fails; without In for none
	Open   string // why no test keeps it, or which part no test keeps
}

// Test is a test of the project.
type Test struct {
	Room string // path of the package below the module
	Name string // TestFunction, or TestFunction/name of a subtest as the code spells it
}

// Chapter is a part of the bug history.
type Chapter struct {
	Title string
	Scars []Scar
}

// columns are the heads of each chapter's table.
const columns = "| Scar | What it was | Tests | Defect | Not kept, and why |"

// Read reads the table from a file. Errors name their lines.
func Read(path string) (chapters []Chapter, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var wrong []error
	number, rows := 0, false
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		title, heading := strings.CutPrefix(line, "## ")
		switch {
		case heading:
			chapters, rows = append(chapters, Chapter{Title: title}), false
		case line == columns && len(chapters) > 0:
			rows = true
		case rows && strings.HasPrefix(line, "| "):
			scar, err := readScar(line)
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s:%d: %w", path, number, err))
			}
			last := &chapters[len(chapters)-1]
			last.Scars = append(last.Scars, scar)
		case strings.HasPrefix(line, "|") && !(rows && strings.HasPrefix(line, "|---")):
			wrong = append(wrong, fmt.Errorf("%s:%d: a row without the head %s", path, number, columns))
		}
	}
	return chapters, errors.Join(wrong...)
}

// readScar reads a row.
func readScar(line string) (s Scar, err error) {
	const bar = "\x00" // for \|, which does not end a cell
	cells := strings.Split(strings.ReplaceAll(line, `\|`, bar), "|")
	if want := strings.Count(columns, "|") + 1; len(cells) != want {
		return s, fmt.Errorf("the row has %d cells, want %d (\\| does not end one)", len(cells)-2, want-2)
	}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), bar, "|")
	}
	s.ID, s.Was, s.Open = cells[1], cells[2], cells[5]
	if s.Tests, err = readTests(cells[3]); err != nil {
		return s, err
	}
	if cells[4] != "" {
		s.Defect, err = readDefect(strings.Trim(cells[4], "`"))
	}
	return s, err
}

// readTests reads the tests of a cell.
func readTests(cell string) (all []Test, err error) {
	for text := range strings.SplitSeq(cell, "<br>") {
		room, name, ok := strings.Cut(strings.TrimPrefix(text, "`"), "` ")
		switch {
		case text == "":
		case !ok:
			return nil, fmt.Errorf("the test %q: want `ROOM` TestName", text)
		default:
			all = append(all, Test{Room: room, Name: name})
		}
	}
	return all, nil
}

// readDefect reads OPERATOR DECLARATION NODE#SHAPE [VALUE].
func readDefect(text string) (d Defect, err error) {
	fields := strings.SplitN(text, " ", 4)
	if len(fields) < 3 {
		return d, fmt.Errorf("the defect %q: want OPERATOR DECLARATION NODE#SHAPE [VALUE]", text)
	}
	node, shape, _ := strings.Cut(fields[2], "#")
	d = Defect{Operator: Operator(fields[0]), In: fields[1], Shape: shape}
	if d.Node, err = strconv.Atoi(node); err != nil {
		return d, fmt.Errorf("the defect %q: want a number for the node: %w", text, err)
	}
	if len(fields) == 4 {
		d.Value = fields[3]
	}
	switch d.Operator {
	case Drop, Negate, Always, Never, Left, Right, Bound:
		if d.Value != "" {
			return d, fmt.Errorf("the defect %q: %s takes no value", text, d.Operator)
		}
	case Replace, Omit:
		if d.Value == "" {
			return d, fmt.Errorf("the defect %q: %s takes a value", text, d.Operator)
		}
	default:
		return d, fmt.Errorf("the defect %q: there is no operator %q", text, d.Operator)
	}
	return d, nil
}

// String is the defect as the table has it.
func (d Defect) String() string {
	text := fmt.Sprintf("%s %s %d#%s", d.Operator, d.In, d.Node, d.Shape)
	if d.Value != "" {
		text += " " + d.Value
	}
	return text
}
