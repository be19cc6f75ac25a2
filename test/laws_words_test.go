package test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// banned are words that have been used for things that the field has a word for, each with that word.
// A reader of keepalived's, HAProxy's and Kubernetes' documents searches for the latter.
var banned = map[string]string{
	"air":      "the link, the network",
	"bereaved": "exited",
	"blackout": "outage",
	"bury":     "reap",
	"deaf":     "stale, timed out",
	"ear":      "listener, receiver",
	"farewell": "release",
	"feel":     "check",
	"guest":    "bootstrap peer, unknown peer",
	"hear":     "receive, observe",
	"heed":     "handle, apply",
	"knock":    "probe",
	"knocker":  "probe",
	"ladder":   "priority scheme",
	"look":     "observe, probe, inspect",
	"mend":     "fix",
	"mute":     "stale, timed out",
	"nobody":   "no host, no holder, no process",
	"obey":     "handle, apply",
	"overhear": "receive, listen",
	"play":     "simulate, run",
	"reign":    "holder, holding",
	"say":      "report, log, print, specify, announce",
	"sink":     "demote",
	"somebody": "a host, a person, another router",
	"stranger": "unknown router",
	"tell":     "report, notify, advertise",
	"turn":     "round, reconcile",
	"whom":     "which; a machine is not a person",
}

// phrases are banned in messages, each with the words to use instead: their words alone are fine.
var phrases = map[string]string{
	"gave it up":      "released it",
	"give it up":      "release it",
	"given up":        "released",
	"gives up":        "releases",
	"falls silent":    "times out",
	"be silent":       "report nothing",
	"is silent":       "timed out, has reported nothing",
	"was silent":      "timed out, received nothing",
	"leaves in order": "is released in order",
	"speaks it":       "uses it",
	"hand to hand":    "handed over",
	"stands for the":  "is a candidate for the",
}

// forms are the inflected forms of banned words that a rule of spelling does not give.
var forms = map[string]string{
	"buried": "bury", "buries": "bury", "felt": "feel", "heard": "hear", "overheard": "overhear",
	"said": "say", "sank": "sink", "sunk": "sink", "told": "tell",
}

// scripted are words that stay in the text of a constant, by the room and the constant: they are JSON
// keys and values of -o json by the names that scripts have for them, and the help names each.
var scripted = map[string][]string{
	"cmd/onprem-infra.statusLong": {"hears", "nobody", "stranger"},
	"cmd/onprem-infra.doctorLong": {"looked"},
}

// bannedWord is the banned word that a word is a form of, empty for none.
func bannedWord(word string) string {
	word = strings.ToLower(word)
	if base := forms[word]; base != "" {
		return base
	}
	for _, base := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "ing"), strings.TrimSuffix(word, "ed")} {
		if banned[base] != "" {
			return base
		}
	}
	return ""
}

// TestLawsWords holds the glossary in what a reader searches for: names that files declare, messages,
// also those of the programs below test, and what each package is, which the map of the rooms has.
// Other comments are for a reader's eye, which no list replaces.
func TestLawsWords(t *testing.T) {
	unused := map[string]bool{}
	for constant, words := range scripted {
		for _, word := range words {
			unused[constant+" "+word] = true
		}
	}
	for _, p := range append(rooms(t), ownModule(t)...) {
		t.Run(p.room(), func(t *testing.T) {
			keeps := func(constant, word string) bool {
				delete(unused, p.room()+"."+constant+" "+word)
				return slices.Contains(scripted[p.room()+"."+constant], word)
			}
			fset, files := source(t, p)
			for _, name := range slices.Sorted(maps.Keys(files)) {
				report := func(pos token.Pos, text, why string) {
					at := fset.Position(pos)
					t.Errorf("%s:%d: %s: %s", path.Join(p.room(), filepath.Base(at.Filename)), at.Line, text, why)
				}
				judgeWords(files[name], keeps, report)
				if what := files[name].Doc; what != nil {
					judgeText(new(doc.Package).Synopsis(what.Text()), keepsNone, func(text, why string) {
						report(what.Pos(), text, why)
					})
				}
			}
		})
	}
	for name := range unused {
		t.Errorf("scripted has %s, and no text has it: take it from the list", name)
	}
}

// TestLawsTestNames holds the glossary in the names of all tests and of subtests: a failed run prints nothing else at
// first, and a reader searches for them.
func TestLawsTestNames(t *testing.T) {
	for _, p := range append(rooms(t), ownModule(t)...) {
		fset := token.NewFileSet()
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			report := func(pos token.Pos, text, why string) {
				t.Errorf("%s:%d: %s: %s", path.Join(p.room(), file), fset.Position(pos).Line, text, why)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if strings.HasPrefix(n.Name.Name, "Test") {
						judgeName(n.Name, report)
					}
				case *ast.CallExpr:
					judgeSubtest(n, report)
				}
				return true
			})
		}
	}
}

// judgeSubtest reports the banned words in the name of a subtest that a call runs.
func judgeSubtest(call *ast.CallExpr, report func(pos token.Pos, text, why string)) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Run" || len(call.Args) != 2 {
		return
	}
	if name, ok := call.Args[0].(*ast.BasicLit); ok {
		judgeText(name.Value, keepsNone, func(text, why string) { report(name.Pos(), text, why) })
	}
}

// judgeName reports the banned words in a name.
func judgeName(id *ast.Ident, report func(pos token.Pos, text, why string)) {
	for _, word := range splitName(id.Name) {
		if base := bannedWord(word); base != "" {
			report(id.Pos(), id.Name, fmt.Sprintf("%q is not the field's word: %s", base, banned[base]))
		}
	}
}

// judgeWords reports the banned words in the names that a file declares and in its messages, but for
// those that a constant of a name keeps.
func judgeWords(f *ast.File, keeps func(constant, word string) bool, report func(pos token.Pos, text, why string)) {
	constants := map[ast.Expr]string{} // by the literals that they are
	name := func(id *ast.Ident) { judgeName(id, report) }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.FuncDecl:
			name(n.Name)
		case *ast.TypeSpec:
			name(n.Name)
		case *ast.Field:
			for _, id := range n.Names {
				name(id)
			}
		case *ast.ValueSpec:
			for i, id := range n.Names {
				name(id)
				if i < len(n.Values) {
					constants[n.Values[i]] = id.Name
				}
			}
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					name(id)
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok && n.Tok == token.DEFINE {
					name(id)
				}
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind != token.STRING || err != nil || !strings.Contains(text, " ") {
				return true
			}
			keep := func(word string) bool { return keeps(constants[n], word) }
			judgeText(text, keep, func(text, why string) { report(n.Pos(), text, why) })
		}
		return true
	})
}

// judgeText reports the banned words and phrases of a text, each with its line, but for words that
// are kept.
func judgeText(text string, keeps func(word string) bool, report func(text, why string)) {
	line := func(at int) string {
		line, _, _ := strings.Cut(text[strings.LastIndexAny(text[:at], "\n")+1:], "\n")
		return strconv.Quote(line)
	}
	for _, at := range letters.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		if base := bannedWord(word); base != "" && !keeps(word) {
			report(line(at[0]), fmt.Sprintf("%q is not the field's word: %s", base, banned[base]))
		}
	}
	for phrase, word := range phrases {
		if at := strings.Index(strings.ToLower(text), phrase); at >= 0 {
			report(line(at), fmt.Sprintf("%q is not the field's phrase: %s", phrase, word))
		}
	}
}

// keepsNone is for texts in which no word is kept.
func keepsNone(string) bool { return false }

// TestLawsWords_Scripts holds the glossary in the Makefile, and in the scripts with their comments:
// those that are written to hosts are read there.
func TestLawsWords_Scripts(t *testing.T) {
	scripts := []string{"../Makefile"}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "bin" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != "" && filepath.Ext(path) != ".sh":
			return nil
		}
		text, err := os.ReadFile(path)
		if strings.HasPrefix(string(text), "#!") {
			scripts = append(scripts, path)
		}
		return err
	})
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		judgeText(string(text), keepsNone, func(text, why string) {
			t.Errorf("%s: %s: %s", strings.TrimPrefix(path, "../"), text, why)
		})
	}
}

var letters = regexp.MustCompile(`[A-Za-z]+`)

// splitName gives the words of a name in camel case.
func splitName(name string) (words []string) {
	start := 0
	runes := []rune(name)
	for i := 1; i <= len(runes); i++ {
		if i == len(runes) || unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1]) || runes[i] == '_' {
			words = append(words, strings.Trim(string(runes[start:i]), "_"))
			start = i
		}
	}
	return words
}

func TestBannedWord(t *testing.T) {
	for word, want := range map[string]string{
		"heard": "hear", "Hears": "hear", "hearing": "hear", "year": "", "sunk": "sink", "looked": "look",
		"airline": "", "return": "", "whom": "whom", "said": "say",
	} {
		if got := bannedWord(word); got != want {
			t.Errorf("%s is a form of %q, want %q", word, got, want)
		}
	}
	if got := splitName("overheardVIPState_now"); !slices.Equal(got, []string{"overheard", "VIPState", "now"}) {
		t.Errorf("split into %q", got)
	}
}
