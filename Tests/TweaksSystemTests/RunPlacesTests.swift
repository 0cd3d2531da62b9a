// Tests which directories are searched for sockets.

import Testing
import TweaksSystem

struct RunPlacesTests {
    /// (variables, the runtime directory, the temporary ones)
    @Test(
        arguments: [
            ([:], nil, ["/tmp", "/dev/shm"]),
            (["XDG_RUNTIME_DIR": "/run/1", "TMPDIR": "/var/t//"], "/run/1/tweaks", ["/var/t", "/tmp", "/dev/shm"]),
            (["TMPDIR": "/dev/shm"], nil, ["/dev/shm", "/tmp"]),
            (["XDG_RUNTIME_DIR": "run", "TMPDIR": "t", "TWEAKS_TMPDIR": "u"], nil, ["/tmp", "/dev/shm"]),
            (["XDG_RUNTIME_DIR": "/r", "TMPDIR": "/t", "TWEAKS_TMPDIR": "/only/"], "/r/tweaks", ["/only"]),
        ] as [([String: String], String?, [String])])
    func variablesNameThem(_ variables: [String: String], _ runtime: String?, _ temporary: [String]) {
        let places = RunPlaces { variables[$0] }
        #expect(places.runtime == runtime && places.temporary == temporary)
    }
}
