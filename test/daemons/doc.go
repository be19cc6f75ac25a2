// Package daemons lets the real daemons judge what is rendered for them: each golden file, and one
// bad file for each judge, as a judge that cannot refuse proves nothing.
package daemons
