package migrate

import (
	"encoding/json"
	"fmt"
)

// EncodeMemory writes a memory for a file. Equal memories give equal bytes.
func EncodeMemory(m Memory) []byte {
	text, _ := json.MarshalIndent(m, "", "  ") // two words and a time of this age: there is nothing that JSON could refuse
	return append(text, '\n')
}

// DecodeMemory reads what EncodeMemory wrote, all of it or nothing.
func DecodeMemory(text []byte) (Memory, error) {
	var m Memory
	if err := json.Unmarshal(text, &m); err != nil {
		return Memory{}, fmt.Errorf("read a memory: %w", err)
	}
	return m, nil
}
