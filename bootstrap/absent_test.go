package bootstrap

import (
	"reflect"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestNilIsEmptyIsAbsent holds P-01: whatever list or map of the input is nil, or empty, or both by turns, the machine gets the same files, and
// nothing panics. Upgrades once ended at a status that an older version had never written.
func TestNilIsEmptyIsAbsent(t *testing.T) {
	smallest := func() spec.Cluster {
		return spec.Cluster{Name: "prod", BaseDomain: "example.com", Platform: spec.VSphere}
	}
	tree := func(c spec.Cluster) any {
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
	want := tree(smallest())
	emptied := 0
	for i := range reflect.TypeFor[spec.Cluster]().NumField() {
		c := smallest()
		field := reflect.ValueOf(&c).Elem().Field(i)
		switch field.Kind() {
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 0, 0))
		case reflect.Map:
			field.Set(reflect.MakeMap(field.Type()))
		default:
			continue
		}
		emptied++
		if got := tree(c); !reflect.DeepEqual(got, want) {
			t.Errorf("an empty %s gives\n%v\nand none gives\n%v", reflect.TypeFor[spec.Cluster]().Field(i).Name, got, want)
		}
	}
	if emptied < 5 {
		t.Errorf("only %d fields were emptied: the test shows nothing", emptied)
	}
}
