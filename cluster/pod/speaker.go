package pod

import "path"

// Speaker is the path of FRR's parent in a pod.
const Speaker = "/speak/onprem-speak"

// speak is a directory in memory of FRR's pods.
var speak = Volume{Name: "speak"}

// InstallSpeaker copies FRR's parent from our image before FRR's container starts.
func InstallSpeaker(image string) Container {
	return Container{
		Name: "install-speak", Image: image,
		Command: []string{"/usr/bin/onprem-speak", "--install", Speaker},
		Mounts:  []Mount{{Volume: speak, Path: path.Dir(Speaker), Writable: true}},
	}
}

// SpeakerMounts are the directories in memory of FRR's container. Its /run is its own: no other
// container reaches the sockets that control its daemons.
func SpeakerMounts() []Mount {
	return []Mount{
		{Volume: speak, Path: path.Dir(Speaker)},
		{Volume: run, Path: "/run", Writable: true},
		{Volume: tmp, Path: "/tmp", Writable: true},
	}
}
