package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes beside 0.
const (
	exitFindings = 1 // findings, or a negative answer
	exitUsage    = 2 // the command line is wrong
	exitHost     = 3 // the host or a daemon failed
)

// exitError is an error that knows the process's exit code. A nil err means that everything has
// been printed.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// usage is what a verb returns for a wrong command line.
func usage(format string, args ...any) error {
	return exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

// negative is what a verb returns when its answer is no, or when it cannot work on its input. A nil
// err prints nothing.
func negative(err error) error { return exitError{code: exitFindings, err: err} }

// negativef is negative with a message.
func negativef(format string, args ...any) error { return negative(fmt.Errorf(format, args...)) }

// markHostFailures makes every error that a verb returns without an exit code a failure of the
// host. Errors that cobra finds before the verb runs stay what they are: wrong usage.
func markHostFailures(cmd *cobra.Command) {
	if verb := cmd.RunE; verb != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := verb(cmd, args)
			var exit exitError
			if err == nil || errors.As(err, &exit) {
				return err
			}
			return exitError{code: exitHost, err: err}
		}
	}
	for _, child := range cmd.Commands() {
		markHostFailures(child)
	}
}
