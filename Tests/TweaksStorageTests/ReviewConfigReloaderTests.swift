// What is said of a config file that comes and goes.

import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

struct ReviewConfigReloaderTests {
    /// A file that came back unchanged and is gone again is news again; as long as it is gone, it is said once.
    @Test func goneAgain() {
        let content = Mutex(FileContent.bytes(Array("Content/Text/Size = 64\n".utf8)))
        let waits = Mutex(0)
        let reloader = ConfigReloader(
            path: "example.conf", policy: ConfigPolicy(), registry: ExampleTweaks().registry,
            read: { _ in content.withLock { $0 } }
        ) { event in
            if case .waiting = event { waits.withLock { $0 += 1 } }
        }
        reloader.look()
        let file = content.withLock { $0 }
        for round in 1...3 {
            content.withLock { $0 = .missing }
            reloader.look()
            reloader.look()
            #expect(waits.withLock { $0 } == round)
            content.withLock { $0 = file }
            reloader.look()
        }
        #expect(waits.withLock { $0 } == 3)
    }
}
