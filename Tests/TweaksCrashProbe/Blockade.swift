// Blocks the start or the end of the probe's daemon, as a file system does whose server is gone.

import Foundation
import Tweaks
import TweaksDaemon

struct Blockade: TweakValueSource {
    let layer = TweakLayer("blockade", rank: 1)
    /// `block-start`, `block-close`, and others.
    let words: Set<String>

    static func sources(_ words: Set<String>) -> [TweakDaemon.Source] {
        words.isDisjoint(with: ["block-start", "block-close"]) ? [] : [TweakDaemon.Source(Blockade(words: words))]
    }

    static func block() -> Never { while true { sleep(1_000) } }

    func load(_ sink: TweakSourceSink) {
        guard words.contains("block-start") else { return }
        try? FileHandle.standardOutput.write(contentsOf: Data("ready\n".utf8))
        Self.block()
    }

    func start(_ sink: TweakSourceSink) {}

    func stop() { if words.contains("block-close") { Self.block() } }
}
