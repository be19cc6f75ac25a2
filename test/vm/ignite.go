package vm

import (
	"context"
	"os"
	"path/filepath"
)

// ignition is Debian's build of the real one. It is made for an initramfs and so lives outside of
// PATH.
const ignition = "/usr/lib/dracut/modules.d/30ignition/ignition"

// ignite runs Ignition's stages on $R. Outside an initramfs it wants an SELinux policy's name and a
// setfiles to label what it writes; a root file system without SELinux gets a policy named none and
// a setfiles that labels nothing, and loses both afterwards.
const ignite = `
mkdir -p "$R/etc/selinux"
echo SELINUXTYPE=none >"$R/etc/selinux/config"
printf '#!/bin/sh\nexit 0\n' >"$DIR/stubs/setfiles"
chmod +x "$DIR/stubs/setfiles"
for stage in fetch-offline fetch files; do
	PATH="$DIR/stubs:$PATH" IGNITION_CONFIG_FILE="$DIR/config.ign" "$IGNITION" -platform file -root "$R" -stage "$stage" \
		-config-cache "$DIR/ignition.json" -state-file "$DIR/ignition.state" -neednet "$DIR/ignition.neednet" -log-to-stdout
done
rm -r "$R/etc/selinux"
`

// Ignite has Ignition write a document to the machine's disk, as at its first boot.
func (m *Machine) Ignite(ctx context.Context, document []byte) error {
	if err := os.WriteFile(filepath.Join(m.dir, "config.ign"), document, 0o600); err != nil {
		return err
	}
	return run(m.step(ctx, ignite, "IGNITION="+ignition))
}
