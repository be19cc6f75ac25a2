// Package handover gives the API VIP from hand to hand: real keepalived under the real supervisor on the hosts of a lab, judged by the addresses
// that their kernels hold every 10 ms.
package handover
