// Package importer imports the module as another program does: what it costs, how
// fast it is, and whether callers disturb each other.
package importer
