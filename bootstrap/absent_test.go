package bootstrap

import (
	"reflect"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestNilIsEmptyIsAbsent holds P-01: whatever list or map of the input is nil, or empty, or both by
// turns, the machine gets the same files, and nothing panics. Upgrades once ended at a status that
// an older version had never written.
func TestNilIsEmptyIsAbsent(t *testing.T) {
	for _, tt := range []struct {
		name    string
		cluster spec.Cluster
		empty   int // lists and maps that it does without
		files   int // that it gets at the least
	}{
		{
			"nothing to serve",
			spec.Cluster{Name: "prod", BaseDomain: "example.com", Platform: spec.VSphere}, 7, 1,
		},
		{"everything to serve", served(), 4, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := tree(t, tt.cluster)
			if len(want) < tt.files {
				t.Errorf("%d files, want %d or more: the test shows nothing", len(want), tt.files)
			}
			emptied := 0
			for i := range reflect.TypeFor[spec.Cluster]().NumField() {
				c := tt.cluster
				field := reflect.ValueOf(&c).Elem().Field(i)
				switch kind := field.Kind(); {
				case kind == reflect.Slice && field.IsNil():
					field.Set(reflect.MakeSlice(field.Type(), 0, 0))
				case kind == reflect.Map && field.IsNil():
					field.Set(reflect.MakeMap(field.Type()))
				default:
					continue
				}
				emptied++
				if got := tree(t, c); !reflect.DeepEqual(got, want) {
					t.Errorf(
						"an empty %s gives\n%v\nand none gives\n%v",
						reflect.TypeFor[spec.Cluster]().Field(i).Name, got, want,
					)
				}
			}
			if emptied < tt.empty {
				t.Errorf("only %d fields were emptied, want %d", emptied, tt.empty)
			}
		})
	}
}

// tree is every file that the bootstrap machine of a cluster gets.
func tree(t *testing.T, c spec.Cluster) []asset.File {
	t.Helper()
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	set, err := Assets(p)
	if err != nil {
		t.Fatal(err)
	}
	return set.Tree()
}
