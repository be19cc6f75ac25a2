package installer

// PlatformFields are the fields that are known of a platform.
func PlatformFields(platform string) []string { return platformFields()[platform].names() }
