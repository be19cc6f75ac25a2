package supervise

import "testing"

func TestJudge(t *testing.T) {
	tests := []struct {
		name   string
		f      files
		retest bool
		want   step
	}{
		{name: "nothing anywhere", want: keep},
		{name: "no candidate, one in force", f: files{inForce: "a"}, want: keep},
		{name: "no candidate, retest due", f: files{inForce: "a", refused: "b"}, retest: true, want: keep},
		{name: "the first candidate", f: files{candidate: "a"}, want: test},
		{name: "the same as in force", f: files{candidate: "a", inForce: "a"}, retest: true, want: keep},
		{name: "another one", f: files{candidate: "b", inForce: "a"}, want: test},
		{name: "the refused one again", f: files{candidate: "b", inForce: "a", refused: "b"}, want: keep},
		{name: "the refused one, when its time has come", f: files{candidate: "b", inForce: "a", refused: "b"}, retest: true, want: test},
		{name: "a third one after a refusal", f: files{candidate: "c", inForce: "a", refused: "b"}, want: test},
		{name: "back to the one in force after a refusal", f: files{candidate: "a", inForce: "a", refused: "b"}, want: forgive},
		{name: "the first one, refused", f: files{candidate: "a", refused: "a"}, want: keep},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := judge(tt.f, tt.retest); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
