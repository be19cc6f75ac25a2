package listed

import (
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

func TestEqual(t *testing.T) {
	meta := func(k expr.MetaKey) []expr.Any { return []expr.Any{&expr.Meta{Key: k, Register: 1}} }
	a, b := meta(expr.MetaKeyIIF), meta(expr.MetaKeyOIF)
	for name, tt := range map[string]struct {
		have, want [][]expr.Any
		same       bool
	}{
		"none": {nil, nil, true}, "the same": {[][]expr.Any{a, b}, [][]expr.Any{meta(expr.MetaKeyIIF), b}, true},
		"another order": {[][]expr.Any{b, a}, [][]expr.Any{a, b}, false}, "one more": {[][]expr.Any{a, b}, [][]expr.Any{a}, false},
		"one less": {[][]expr.Any{a}, [][]expr.Any{a, b}, false}, "another one": {[][]expr.Any{a}, [][]expr.Any{b}, false},
		"an expression more": {[][]expr.Any{append(a, b...)}, [][]expr.Any{a}, false},
	} {
		var have []*nftables.Rule
		for _, exprs := range tt.have {
			have = append(have, &nftables.Rule{Exprs: exprs})
		}
		if same, err := Equal(have, tt.want); same != tt.same || err != nil {
			t.Errorf("%s: %t, %v", name, same, err)
		}
	}
}
