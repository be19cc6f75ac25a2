package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Usage is what a process has used of the machine.
type Usage struct {
	CPU      time.Duration // of all its threads, in user and kernel mode
	Resident int64         // bytes of memory
}

// tick is the unit of the kernel's clocks in /proc, the same on every machine that Go runs on.
const tick = time.Second / 100

// OwnUsage is that of this program.
func OwnUsage() (Usage, error) {
	var u Usage
	stat, err := os.ReadFile("/proc/self/stat")
	if err == nil {
		u, err = readUsage(stat, os.Getpagesize())
	}
	if err != nil {
		return Usage{}, fmt.Errorf("read what this program uses: %w", err)
	}
	return u, nil
}

// readUsage reads proc_pid_stat(5). The program's name, in brackets, may hold anything.
func readUsage(stat []byte, page int) (Usage, error) {
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:]) // from the third one on
	if end < 0 || len(fields) < 22 {
		return Usage{}, errors.New("it is not of the form that the kernel writes")
	}
	var numbers [3]int64
	for i, at := range []int{14, 15, 24} { // utime, stime, rss
		n, err := strconv.ParseInt(string(fields[at-3]), 10, 64)
		if err != nil {
			return Usage{}, err
		}
		numbers[i] = n
	}
	return Usage{CPU: time.Duration(numbers[0]+numbers[1]) * tick,
		Resident: numbers[2] * int64(page)}, nil
}
