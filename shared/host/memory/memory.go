// Package memory keeps files of what the bootstrap machine's VIP program must know after its
// restart, and reads and writes such files for other programs.
package memory

import (
	"encoding/json"
	"log/slog"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// Read reads what an earlier run has written; the zero value if there was none. An unreadable file
// is logged and counts as none, so that the VIP keeps a holder.
func Read[M any](path string, decode func([]byte) (M, error), log *slog.Logger) (m M) {
	text, err := file.Read(path)
	if err == nil && text != nil {
		m, err = decode(text)
	}
	if err != nil {
		log.Warn("read the memory of an earlier run", "file", path, "error", err)
	}
	return m
}

// keep writes a list.
func keep[T any](path string, list []T) error {
	text, err := encodeList(list)
	if err != nil {
		return err
	}
	return file.Write(path, text, 0o644)
}

func encodeList[T any](list []T) ([]byte, error) {
	text, err := json.MarshalIndent(list, "", "  ")
	return append(text, '\n'), err
}

// decodeList reads what encodeList wrote; nothing of it if a part is invalid.
func decodeList[T any](text []byte) ([]T, error) {
	var list []T
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	return list, nil
}

// mark creates or removes an empty file.
func mark(path string, present bool) error {
	if !present {
		return file.Remove(path)
	}
	_, err := file.WriteIfChanged(path, nil, 0o644)
	return err
}
