package bootlog

// memory is a map of bounded size: the oldest key is forgotten for a new one.
type memory[K comparable, V any] struct {
	values map[K]V
	order  []K // the oldest first
}

func (m *memory[K, V]) get(key K) (V, bool) {
	v, ok := m.values[key]
	return v, ok
}

// put stores a value under a key, of which there are limit at most.
func (m *memory[K, V]) put(key K, value V, limit int) {
	if m.values == nil {
		m.values = map[K]V{}
	}
	if _, ok := m.values[key]; !ok {
		if len(m.order) >= limit {
			delete(m.values, m.order[0])
			m.order = m.order[1:]
		}
		m.order = append(m.order, key)
	}
	m.values[key] = value
}
