// Package layout has the paths that the programs of a bootstrap machine share while it provisions
// hosts, and those of a node that answers hosts which boot.
package layout

// Paths that outlive a reboot.
const (
	State = "/var/lib/onprem-infra/provisioning"
	// HTTP and TFTP are the document roots.
	HTTP = State + "/http"
	TFTP = State + "/tftp"
	// Images, below HTTP, are the ramdisk and the operating system.
	Images = HTTP + "/images"
	// Ironic has Ironic's database, and Leases dnsmasq's leases.
	Ironic = State + "/ironic"
	Leases = State + "/leases"
	// Database is where the cluster's Ironic has its database. It alone may be a volume of its
	// own: Ironic hard-links its other files into HTTP, which needs one file system.
	Database = State + "/database"
	// Journal is what the phase machine did and why, a JSON object a line.
	Journal = State + "/journal.jsonl"
)

// Ironic's certificate, which the machine makes itself, and the account of its API.
const (
	Certificate = State + "/tls/ironic.crt"
	Key         = State + "/tls/ironic.key" // 0600
	Account     = State + "/auth/account.json"
	Htpasswd    = State + "/auth/htpasswd"
)

// BMCCA has the certificates in PEM by which Ironic verifies BMCs: those of Hosts or, if that has
// none, those that the machine trusts.
const BMCCA = State + "/tls/bmc-ca.crt"

// Hosts is the file of shared/provisioning/hostfile, which has secrets. Its mode is 0600.
const Hosts = "/etc/onprem-infra/provisioning/hosts.json"

// Run has what is made at each start, and is empty after a boot: the orders and reports of
// shared/provisioning/orders, and Progress with what the phase machine waits for.
const (
	Run         = "/run/onprem-infra/provisioning"
	Orders      = Run + "/orders.json"
	Progress    = Run + "/progress.json"
	DnsmasqConf = Run + "/dnsmasq/dnsmasq.conf"
	DnsmasqHost = Run + "/dnsmasq/hosts"
	DnsmasqLog  = Run + "/dnsmasq/dnsmasq.log"
	IronicConf  = Run + "/ironic/ironic.conf"
	// Ordered is the directory of the orders for a node's DHCP server.
	Ordered = Run + "/dhcp"
	// Pull is locked by the programs that run from one image, so that only one pulls it.
	Pull = Run + "/pull.lock"
)

// Report is the file in which a part reports.
func Report(part string) string { return Run + "/report-" + part + ".json" }

// What hosts fetch, below HTTP. Beside each of them is its digest: a line of sha256sum in a file
// with the same name and Digest behind it.
const (
	AgentKernel    = Images + "/agent.kernel"
	AgentInitramfs = Images + "/agent.initramfs"
	Loader         = Images + "/esp.img" // of hosts that boot by virtual media
	OSRaw          = Images + "/os.raw"  // the operating system is one of the two
	OSQcow2        = Images + "/os.qcow2"
	Digest         = ".sha256"
)

// The programs of iPXE, below HTTP and TFTP.
const (
	ProgramBIOS  = "undionly.kpxe"
	ProgramX64   = "snponly.efi"
	ProgramARM64 = "arm64-efi/snponly.efi"
)

// Media and MediaILO are the directories below HTTP in which Ironic publishes virtual media. Those
// hold secrets, so they are served over TLS alone.
const (
	Media    = "redfish"
	MediaILO = "ilo"
)

// Sources has, for each file that was fetched, where it came from and its digest.
const Sources = State + "/sources"

// Copied has what the cluster's pod has copied out of its images, before it is checked and served.
const Copied = State + "/copied"

// Dnsmasq is dnsmasq's command.
func Dnsmasq() []string { return []string{"dnsmasq", "-C", DnsmasqConf} }
