// Package clash has two clusters on one switch whose virtual routers have the same ID, with real
// keepalived under our supervisor and our monitors.
package clash
