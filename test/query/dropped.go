package query

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Dropped is how many UDP packets a host's kernel has dropped so far because the receiver's buffer was
// full.
func Dropped(host *lab.Host) (n int, err error) {
	err = host.Do(func() error {
		four, err := os.ReadFile("/proc/thread-self/net/snmp")
		if err != nil {
			return err
		}
		six, err := os.ReadFile("/proc/thread-self/net/snmp6")
		if err != nil {
			return err
		}
		n, err = dropped(string(four), string(six))
		return err
	})
	return n, err
}

// dropped reads the kernel's counters: of IPv4 a line of names and one of numbers, of IPv6 a line each.
func dropped(four, six string) (int, error) {
	var names []string
	sum, found := 0, 0
	add := func(text string) error {
		n, err := strconv.Atoi(text)
		sum, found = sum+n, found+1
		return err
	}
	for line := range strings.Lines(four) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] != "Udp:" {
			continue
		}
		for i, name := range names {
			if i < len(words) && name == "RcvbufErrors" {
				if err := add(words[i]); err != nil {
					return 0, fmt.Errorf("read the counters of UDP: %w", err)
				}
			}
		}
		names = words
	}
	for line := range strings.Lines(six) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "Udp6RcvbufErrors" {
			if err := add(words[1]); err != nil {
				return 0, fmt.Errorf("read the counters of UDP: %w", err)
			}
		}
	}
	if found != 2 {
		return 0, fmt.Errorf("read the counters of UDP: %d of 2 are there", found)
	}
	return sum, nil
}
