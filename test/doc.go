// Package test holds the laws of the code base: which room may import which, and what no room may
// do.
package test
