// Package listed compares rules of the packet filter with those that the kernel lists.
package listed

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

// Equal reports whether the kernel has exactly these rules of a table, in this order. The bytes
// that it keeps are compared, so that only content counts.
func Equal(have []*nftables.Rule, want [][]expr.Any) (bool, error) {
	if len(have) != len(want) {
		return false, nil
	}
	for i, rule := range have {
		a, errA := encode(rule.Exprs)
		b, errB := encode(want[i])
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			return false, err
		}
	}
	return true, nil
}

// encode is a rule as bytes, the same for one that we made and for the same one as the kernel lists
// it.
func encode(exprs []expr.Any) (out []byte, err error) {
	for _, e := range exprs {
		b, err := expr.Marshal(byte(nftables.TableFamilyINet), e)
		if err != nil {
			return nil, fmt.Errorf("read a netfilter rule: %w", err)
		}
		out = append(out, b...)
	}
	return out, nil
}
