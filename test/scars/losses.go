package scars

// losses are what an operator lost or misread at the command line.
func losses() []Scar {
	const cmd = "cmd/onprem-infra"
	return []Scar{
		kept("OP-01", "Keys of the JSON output were spelt in two ways, min_ms beside ageMs.",
			by(cmd, "TestKeys_AreInCamelCase", "cmd/onprem-infra/simulate_rows.go",
				"`json:\"minMs\"`", "`json:\"min_ms\"`")),
	}
}
