// Package importer looks at the module as another program does that imports it: what it costs, how
// fast it is, and whether callers disturb each other.
package importer
