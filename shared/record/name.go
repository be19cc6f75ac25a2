package record

import (
	"errors"
	"fmt"
	"strings"
)

// The lengths that the wire format allows (RFC 1035 2.3.4): a name of 253 characters with 254 dots
// and lengths is 255 bytes.
const (
	maxName  = 253
	maxLabel = 63
)

// ParseName reads a domain name as users write it: letters of either case, a final dot or none.
// Labels are those of hosts (RFC 1123 2.1): letters, digits and inner hyphens, 1 to 63 of them.
func ParseName(s string) (Name, error) {
	name := strings.TrimSuffix(s, ".")
	if name == "" {
		return "", errors.New("the name is empty")
	}
	if len(name) > maxName {
		return "", fmt.Errorf("the name has %d characters, DNS allows %d", len(name), maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		if err := checkLabel(label); err != nil {
			return "", fmt.Errorf("name %q: %w", s, err)
		}
	}
	// after the check: some letters outside ASCII have a lower case in ASCII
	return Name(strings.ToLower(name)), nil
}

func checkLabel(label string) error {
	if label == "" {
		return errors.New("there is nothing between two dots")
	}
	if len(label) > maxLabel {
		return fmt.Errorf("label %q has %d characters, DNS allows %d", label, len(label), maxLabel)
	}
	for _, r := range label {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' {
			return fmt.Errorf("label %q holds %q: only letters, digits and hyphens may be in it",
				label, r)
		}
	}
	if label[0] == '-' || label[len(label)-1] == '-' {
		return fmt.Errorf("label %q begins or ends with a hyphen", label)
	}
	return nil
}
