package notice

import "testing"

func TestReadRank(t *testing.T) {
	for _, tt := range []struct {
		text string
		rank int
		ok   bool
	}{
		{"0", 0, true}, {"4", 4, true}, {EncodeRank(3), 3, true},
		{"5", 0, false}, {"-1", 0, false}, {"", 0, false}, {" 1", 0, false}, {"+1", 0, false}, {"01", 0, false}, {"1.0", 0, false}, {"first", 0, false},
		{"99999999999999999999", 0, false},
	} {
		if rank, ok := ReadRank(tt.text, 5); rank != tt.rank || ok != tt.ok {
			t.Errorf("ReadRank(%q) = %d %t, want %d %t", tt.text, rank, ok, tt.rank, tt.ok)
		}
	}
	if _, ok := ReadRank("0", 0); ok {
		t.Error("an election without ranks has a rank 0")
	}
}
