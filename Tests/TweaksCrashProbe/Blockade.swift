// Blocks the start or the end of the probe's daemon, as a file system does whose server is gone.

import Foundation
import Tweaks
import TweaksDaemon

struct Blockade: RunningSource {
    let metrics: [(String, JSON)] = []

    /// - Parameter words: `block-start`, `block-close`, or others, with which it does nothing.
    static func source(_ words: Set<String>) -> TweakDaemon.Source {
        TweakDaemon.Source { _ in
            if words.contains("block-start") {
                try? FileHandle.standardOutput.write(contentsOf: Data("ready\n".utf8))
                block()
            }
            return words.contains("block-close") ? Blockade() : nil
        }
    }

    static func block() -> Never { while true { sleep(1_000) } }

    func applySaved() {}
    func start() {}
    func stop() { Self.block() }
}
