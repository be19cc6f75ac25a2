package system

import (
	"slices"
	"testing"
)

// TestFilesOfOthers holds what is read from the files of other programs.
func TestFilesOfOthers(t *testing.T) {
	if got := serversIn([]byte("# server a\nserver b iburst\npool c\n[Time]\nNTP=d e\nFallbackNTP=f\nserver\n")); !slices.Equal(
		got, []string{"b", "c", "d", "e"},
	) {
		t.Errorf("time servers %q", got)
	}
	ranges := rangesIn(
		[]byte(
			"#dhcp-range=192.0.2.1,192.0.2.9\ndhcp-range=set:x,192.0.2.100,192.0.2.200,12h\n  range 198.51.100.1 198.51.100.9;\ndhcp-range=192.0.2.0,static\n",
		),
		"f",
	)
	if len(ranges) != 2 || ranges[0].First.String() != "192.0.2.100" ||
		ranges[0].Last.String() != "192.0.2.200" ||
		ranges[1].Last.String() != "198.51.100.9" {
		t.Errorf("ranges %v", ranges)
	}
	for _, tt := range []struct {
		version, than string
		want          bool
	}{{"4.3.1", "4.0", false}, {"3.4.4", "4.0", true}, {"10.1", "9.9", false}, {"4", "4.0", false}, {"239", "239", false}, {"x", "1", true}} {
		if olderThan(tt.version, tt.than) != tt.want {
			t.Errorf("%s older than %s: %v", tt.version, tt.than, !tt.want)
		}
	}
}
