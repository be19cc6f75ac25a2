// Package arch has the architectures of hosts that boot from the network, by the numbers that their
// firmware sends.
package arch

import "fmt"

// Number is the number by which a network boot client names its architecture: option 93 of DHCP,
// option 61 of DHCPv6 (RFC 4578, RFC 5970). IANA's registry "Processor Architecture Types" has
// them.
type Number uint16

// Platform is what one boot program serves.
type Platform string

// The platforms that iPXE has programs for.
const (
	BIOS  Platform = "bios"
	IA32  Platform = "ia32"
	X64   Platform = "x64"
	ARM32 Platform = "arm32"
	ARM64 Platform = "arm64"
)

// Known is how many numbers the registry has: they begin at 0, without a gap.
const Known = Number(len(clients))

// client is what a number means.
type client struct {
	name     string
	platform Platform // empty: no program of iPXE is for it
	http     bool     // it loads its program over HTTP, else over TFTP
}

// clients is the whole registry. The registry calls 7 x64 and 9 EBC. EDK2 and most firmware send 7,
// some older firmware sends 9 for x64; nothing boots EBC.
var clients = [...]client{
	0:  {"x86 BIOS", BIOS, false},
	1:  {"NEC PC-98", "", false},
	2:  {"Itanium", "", false},
	3:  {"DEC Alpha", "", false},
	4:  {"Arc x86", "", false},
	5:  {"Intel Lean Client", "", false},
	6:  {"x86 UEFI", IA32, false},
	7:  {"x64 UEFI", X64, false},
	8:  {"XScale UEFI", "", false},
	9:  {"x64 UEFI (EBC)", X64, false},
	10: {"ARM 32 UEFI", ARM32, false},
	11: {"ARM 64 UEFI", ARM64, false},
	12: {"PowerPC Open Firmware", "", false},
	13: {"PowerPC ePAPR", "", false},
	14: {"POWER OPAL v3", "", false},
	15: {"x86 UEFI HTTP", IA32, true},
	16: {"x64 UEFI HTTP", X64, true},
	17: {"EBC HTTP", "", true},
	18: {"ARM 32 UEFI HTTP", ARM32, true},
	19: {"ARM 64 UEFI HTTP", ARM64, true},
	20: {"x86 BIOS HTTP", BIOS, true},
	21: {"ARM 32 U-Boot", "", false},
	22: {"ARM 64 U-Boot", "", false},
	23: {"ARM 32 U-Boot HTTP", "", true},
	24: {"ARM 64 U-Boot HTTP", "", true},
	25: {"RISC-V 32 UEFI", "", false},
	26: {"RISC-V 32 UEFI HTTP", "", true},
	27: {"RISC-V 64 UEFI", "", false},
	28: {"RISC-V 64 UEFI HTTP", "", true},
	29: {"RISC-V 128 UEFI", "", false},
	30: {"RISC-V 128 UEFI HTTP", "", true},
	31: {"s390 Basic", "", false},
	32: {"s390 Extended", "", false},
	33: {"MIPS 32 UEFI", "", false},
	34: {"MIPS 64 UEFI", "", false},
	35: {"Sunway 32 UEFI", "", false},
	36: {"Sunway 64 UEFI", "", false},
	37: {"LoongArch 32 UEFI", "", false},
	38: {"LoongArch 32 UEFI HTTP", "", true},
	39: {"LoongArch 64 UEFI", "", false},
	40: {"LoongArch 64 UEFI HTTP", "", true},
	41: {"ARM rpiboot", "", false},
}

// String is the name of the architecture with its number.
func (n Number) String() string {
	if int(n) < len(clients) {
		return fmt.Sprintf("%s (%d)", clients[n].name, uint16(n))
	}
	return fmt.Sprintf("unknown architecture (%d)", uint16(n))
}

// Client is what a client of this architecture loads, and whether over HTTP. The platform is empty
// if there is no program of iPXE for it.
func (n Number) Client() (p Platform, http bool) {
	if int(n) >= len(clients) {
		return "", false
	}
	return clients[n].platform, clients[n].http
}
