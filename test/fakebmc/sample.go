package fakebmc

import (
	"fmt"
	"io"
	"log"
)

// quiet drops what a server logs of clients that refuse its certificate.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// Sample is a machine with all that a BMC reports, different for each number.
func Sample(n int) Machine {
	return Machine{
		ID: fmt.Sprintf("%d", n), UUID: fmt.Sprintf("38947555-7742-3448-abcd-%012d", n),
		Serial: fmt.Sprintf("SN%04d", n), Manufacturer: "FAKE", Model: "R1",
		MemoryGiB: 64, CPUs: 2,
		Ports: []Port{
			{MAC: fmt.Sprintf("52:54:00:00:%02X:01", n%256), Link: "LinkUp"},
			{MAC: fmt.Sprintf("52:54:00:00:%02X:02", n%256), Link: "LinkDown"},
		},
		Disks: []Disk{
			{Name: "Bay 1", Model: "MZ7L3480", Vendor: "Samsung", Serial: fmt.Sprintf("D%04d-1", n),
				WWN: fmt.Sprintf("5002538F%08d", n), Bytes: 480e9, Media: "SSD", Protocol: "SATA"},
			{Name: "Bay 2", Model: "ST8000NM", Vendor: "SEAGATE", Serial: fmt.Sprintf("D%04d-2", n),
				Bytes: 8e12, Media: "HDD", Protocol: "SAS"},
		},
	}
}
