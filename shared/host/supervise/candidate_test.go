package supervise

import "testing"

func TestDigests_Next(t *testing.T) {
	tests := []struct {
		name   string
		d      digests
		retest bool
		want   action
	}{
		{name: "nothing anywhere", want: keep},
		{name: "no candidate, one running", d: digests{running: "a"}, want: keep},
		{name: "no candidate, retest due", d: digests{running: "a", refused: "b"},
			retest: true, want: keep},
		{name: "the first candidate", d: digests{candidate: "a"}, want: test},
		{name: "the same as the running one", d: digests{candidate: "a", running: "a"},
			retest: true, want: keep},
		{name: "another one", d: digests{candidate: "b", running: "a"}, want: test},
		{name: "the refused one again", d: digests{candidate: "b", running: "a",
			refused: "b"}, want: keep},
		{name: "the refused one, when its time has come", d: digests{candidate: "b", running: "a",
			refused: "b"}, retest: true, want: test},
		{name: "a third one after a refusal", d: digests{candidate: "c", running: "a",
			refused: "b"}, want: test},
		{name: "back to the running one after a refusal", d: digests{candidate: "a", running: "a",
			refused: "b"}, want: clearRefusal},
		{name: "the first one, refused", d: digests{candidate: "a", refused: "a"}, want: keep},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.d.next(tt.retest); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
