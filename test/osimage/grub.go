package osimage

import (
	"encoding/binary"
	"fmt"
	"os"
)

// Where assemble.sh has the partition for GRUB, and how large that is.
const (
	sector     = 512
	coreSector = 2048
	coreMost   = 1 << 20
)

// embed writes GRUB for BIOS into an image, as grub-install does on a disk: what the BIOS loads,
// which loads the sector coreSector, which loads the rest behind it. Both have the places for these
// numbers in GRUB's grub-core/boot/i386/pc/boot.S and diskboot.S.
func embed(image, boot, core string) error {
	first, err := os.ReadFile(boot)
	if err != nil {
		return err
	}
	rest, err := os.ReadFile(core)
	if err != nil {
		return err
	}
	if len(first) != sector || len(rest) < sector || len(rest) > coreMost {
		return fmt.Errorf("GRUB's boot sector has %d bytes, and its core %d", len(first), len(rest))
	}
	rest = append(rest, make([]byte, -len(rest)&(sector-1))...)
	const (
		coreAt, driveCheck = 0x5c, 0x66 // in the boot sector
		listAt             = sector - 12
		segment            = 0x820
		table              = 440 // where the partition table begins
	)
	binary.LittleEndian.PutUint64(first[coreAt:], coreSector)
	copy(first[driveCheck:], []byte{0x90, 0x90}) // take the drive that the BIOS names
	binary.LittleEndian.PutUint64(rest[listAt:], coreSector+1)
	binary.LittleEndian.PutUint16(rest[listAt+8:], uint16(len(rest)/sector-1))
	binary.LittleEndian.PutUint16(rest[listAt+10:], segment)
	f, err := os.OpenFile(image, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(first[:table], 0); err != nil {
		return err
	}
	if _, err := f.WriteAt(rest, coreSector*sector); err != nil {
		return err
	}
	return f.Close()
}
