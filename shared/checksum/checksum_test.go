package checksum

import "testing"

// TestSum holds the example of RFC 1071 3, an odd byte, and that parts add up to the whole.
func TestSum(t *testing.T) {
	example := []byte{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7}
	if got := Sum(0, example); got != 0xddf2 || Of(example) != ^uint16(0xddf2) {
		t.Errorf("%#x, %#x", got, Of(example))
	}
	if got := Sum(uint32(Sum(0, example[:4])), example[4:]); got != 0xddf2 {
		t.Errorf("in two parts: %#x", got)
	}
	if got := Sum(0, []byte{0x12, 0x34, 0x56}); got != 0x1234+0x5600 {
		t.Errorf("of three bytes: %#x", got)
	}
}
