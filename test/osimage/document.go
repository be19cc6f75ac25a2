package osimage

import (
	"encoding/json"
	"fmt"
	"net/url"
)

// Marker is a file that a document of Document makes.
const Marker = "/etc/onprem-marker"

// Document is an Ignition document that gives a host its name and makes Marker with a text. Once
// the operating system runs, a unit of it sends both to a URL, as "HOSTNAME MARKER", and prints them
// on the console after "os:".
func Document(hostname, marker, report string) ([]byte, error) {
	unit := fmt.Sprintf(`[Unit]
Description=Report that the operating system is up
Wants=network.target
After=network.target

[Service]
Type=oneshot
RemainAfterExit=yes
StandardOutput=journal+console
ExecStart=/bin/sh -ec 'text="$$(uname -n) $$(cat %[1]s)"; echo "os: $$text"; curl --silent --show-error --fail --retry 60 --retry-delay 1 --retry-all-errors --data "$$text" "%[2]s"; echo "os: reported"'

[Install]
WantedBy=multi-user.target
`, Marker, report)
	type object = map[string]any
	file := func(path, text string) object {
		return object{"path": path, "overwrite": true, "mode": 0o644, "contents": object{"source": "data:," + url.PathEscape(text+"\n")}}
	}
	return json.Marshal(object{
		"ignition": object{"version": "3.3.0"},
		"storage":  object{"files": []object{file("/etc/hostname", hostname), file(Marker, marker)}},
		"systemd":  object{"units": []object{{"name": "onprem-report.service", "enabled": true, "contents": unit}}},
	})
}
