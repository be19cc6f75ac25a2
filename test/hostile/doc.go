// Package hostile holds that no text from outside leaves its place: what a user, a kernel, a Node
// or a resolv.conf holds is refused, or stands in every rendered file as one value, and the file has
// the structure that it has with any other value.
package hostile
