// inmate is all that the test image holds: it prints what it may do, and then runs as its arguments
// specify.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
)

type report struct {
	Status  map[string]string // of /proc/self/status
	NetNS   string
	Env     []string
	Args    []string
	Stdin   string
	Dir     string
	CanMake map[string]bool // directories, by whether a file can be made there
}

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	switch os.Args[1] {
	case "exit":
		code, _ := strconv.Atoi(os.Args[2])
		os.Exit(code)
	case "report":
		if err := write(os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
	case "stubborn":
		// Until here, SIGTERM ends the process.
		if err := os.WriteFile(os.Args[2], nil, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(9)
		}
		for range ended {
		}
	}
	<-ended
}

func write(path string, dirs []string) error {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	r := report{Status: map[string]string{}, Env: os.Environ(), Args: os.Args, CanMake: map[string]bool{}}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		r.Status[key] = strings.TrimSpace(value)
	}
	r.NetNS, _ = os.Readlink("/proc/self/ns/net")
	r.Stdin, _ = os.Readlink("/proc/self/fd/0")
	r.Dir, _ = os.Getwd()
	for _, dir := range dirs {
		err := os.WriteFile(dir+"/made-by-inmate", nil, 0o600)
		r.CanMake[dir] = err == nil
	}
	out, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", out, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
