package spec

import "github.com/onprem-infra/onprem-infra/shared/spec/document"

// Finding is one thing that is wrong with the input and what to do about it; Findings are all of
// them, in the order of the file.
type (
	Finding  = document.Finding
	Findings = document.Findings
	Severity = document.Severity
)

// The severities.
const (
	Error   = document.Error
	Warning = document.Warning
)
