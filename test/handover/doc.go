// Package handover hands the API VIP over between hosts: real keepalived under the real supervisor
// and real API servers on the hosts of a lab, judged by the addresses that their kernels hold every
// 10 ms, and by clients that open a connection as often.
package handover
