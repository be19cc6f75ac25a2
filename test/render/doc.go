// Package render holds whole trees: one file in testdata has an input and every file that the roles
// get from it, or the findings.
package render
