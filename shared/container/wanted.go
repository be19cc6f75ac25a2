package container

// Wanted is a file of an image: its name for the caller, and the paths where images have it, the
// best first.
type Wanted struct {
	Name string
	From []string
}
