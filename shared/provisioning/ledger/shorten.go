package ledger

// kept is how many lines a shortened journal keeps for readers.
const kept = 500

// Shorten is a journal with the same memory: the last lines for readers, at most kept of them and
// half of MaxFile, and a Whole entry with the memory. Equal journals give equal results.
func Shorten(all []Entry) []Entry {
	if len(all) == 0 {
		return nil
	}
	memory := Fold(all)
	first, room := len(all), MaxFile/2
	for first > max(0, len(all)-kept) {
		if room -= len(Encode(all[first-1])); room < 0 {
			break
		}
		first--
	}
	short := append([]Entry{}, all[first:]...)
	return append(short, Entry{Time: all[len(all)-1].Time, Kind: Whole, Memory: &memory})
}
