// Package provisioning installs bare machines as the bootstrap phase does, on real parts: Ironic by
// the configuration that the project renders, dnsmasq and iPXE by its files, Ironic's agent in a
// ramdisk, and an operating system that the real Ignition configures. FAKE are the BMCs alone, and
// the processors, which qemu computes.
package provisioning
