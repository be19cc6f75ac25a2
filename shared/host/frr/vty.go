// Package frr speaks with FRR's daemons over their sockets. It is the only way to them: vtysh and
// frr-reload are programs of their own that read files, and reset sessions.
package frr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/frr"
)

// Daemon is a connection to a daemon. It is for one goroutine.
type Daemon struct {
	name frr.Daemon
	conn net.Conn
}

// Dial connects to a daemon whose sockets are in a directory. The connection may do everything:
// the permissions of the directory decide which programs may open it.
func Dial(ctx context.Context, dir string, name frr.Daemon) (*Daemon, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", filepath.Join(dir, string(name)+".vty"))
	if err != nil {
		return nil, fmt.Errorf("reach %s: %w", name, err)
	}
	d := &Daemon{name: name, conn: conn}
	if _, err := d.Show(ctx, "enable"); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close ends the connection.
func (d *Daemon) Close() error { return d.conn.Close() }

// Show runs a command that changes nothing, and returns the answer. A refusal is an error too.
func (d *Daemon) Show(ctx context.Context, command string) (string, error) {
	code, text, err := d.ask(ctx, command)
	if err == nil && code != success {
		err = fmt.Errorf("%s: %q: %w", d.name, command, refusal{code, text})
	}
	return text, err
}

// Apply runs commands in their order. If the daemon refuses a setting, Apply goes on, as settings
// do not depend on each other. If the daemon refuses to enter a section, Apply ends: the commands
// after that would have another meaning elsewhere. The error joins all refusals, without secrets.
func (d *Daemon) Apply(ctx context.Context, commands []frr.Command) error {
	var wrong []error
	for _, c := range commands {
		code, text, err := d.ask(ctx, c.Reveal())
		if err != nil {
			return errors.Join(append(wrong, err)...) // nothing can be asked any more
		}
		if code != success {
			text = strings.ReplaceAll(text, c.Reveal(), c.String())
			wrong = append(wrong, fmt.Errorf("%s: %q: %w", d.name, c.String(),
				refusal{code, text}))
		}
		if code != success && c.Section {
			_, _, err := d.ask(ctx, "end")
			return errors.Join(append(wrong, err)...)
		}
	}
	return errors.Join(wrong...)
}

// Codes of answers (lib/command.h of FRR). All but success are refusals.
const (
	success = 0
	unknown = 2
)

// Unanswered reports whether an error means that a daemon has not answered a question on its
// connection, in time or at all. It is not known then whether it has done what was asked. A
// refusal is an answer, and a daemon that was not reached was given nothing.
func Unanswered(err error) bool {
	var s silence
	return errors.As(err, &s)
}

// Refused reports whether an error is a daemon's answer to a command that it has not done.
func Refused(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

// silence is in the place of an answer.
type silence struct{ error }

func (s silence) Unwrap() error { return s.error }

// refusal is a daemon's answer to a command that it has not done.
type refusal struct {
	code byte
	text string
}

func (r refusal) Error() string {
	what := "refused"
	if r.code == unknown {
		what = "is no command of this release of FRR"
	}
	if text := strings.Join(strings.Fields(strings.TrimLeft(r.text, "%")), " "); text != "" {
		return fmt.Sprintf("%s (code %d): %s", what, r.code, text)
	}
	return fmt.Sprintf("%s (code %d)", what, r.code)
}

// patience is how long a daemon may take for an answer: it does one thing at a time, and has much
// to do when sessions come up.
const patience = time.Second

// largest is the largest answer: what is read is a configuration, or the state of some sessions.
const largest = 4 << 20

// ask sends a command and reads the answer: a text without zero bytes, three of these, and a code
// (lib/vty.c of FRR, vtysh_read and vtysh_write).
func (d *Daemon) ask(ctx context.Context, command string) (byte, string, error) {
	if i := strings.IndexAny(command, "\x00\r\n"); i >= 0 {
		return 0, "", fmt.Errorf("ask %s: a command has a line break or a zero byte", d.name)
	}
	deadline := time.Now().Add(patience)
	if until, ok := ctx.Deadline(); ok && until.Before(deadline) {
		deadline = until
	}
	silent := func(why error) error { return silence{fmt.Errorf("ask %s: %w", d.name, why)} }
	if err := d.conn.SetDeadline(deadline); err != nil {
		return 0, "", silent(err)
	}
	if _, err := d.conn.Write(append([]byte(command), 0)); err != nil {
		return 0, "", silent(err)
	}
	var answer []byte
	buffer := make([]byte, 64<<10)
	for {
		n, err := d.conn.Read(buffer)
		answer = append(answer, buffer[:n]...)
		text, code := answer[:max(len(answer)-4, 0)], answer[max(len(answer)-4, 0):]
		if len(code) == 4 && bytes.HasPrefix(code, []byte{0, 0, 0}) {
			return code[3], string(text), nil
		}
		switch {
		case err != nil:
			return 0, "", silent(err)
		case len(answer) > largest:
			return 0, "", silent(fmt.Errorf("the answer has more than %d bytes", largest))
		}
	}
}
