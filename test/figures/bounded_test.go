package figures

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan/bound"
)

// TestBounded holds that a bound is the plan's, with what is noise and what the machine adds.
func TestBounded(t *testing.T) {
	bounds := []bound.Bound{{Scenario: "api-crash", DarkMs: 10}, {Scenario: "api-hang", DarkMs: 700}}
	if _, err := Bounded(bounds, "lb-hang"); err == nil {
		t.Error("a bound that the plan has not")
	}
	began := time.Now()
	within, err := Bounded(bounds, "api-hang")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	most := within()
	if least, longest := 900*time.Millisecond, 900*time.Millisecond+2*time.Since(began); most < least || most > longest {
		t.Errorf("%v, want %v to %v", most, least, longest)
	}
}
