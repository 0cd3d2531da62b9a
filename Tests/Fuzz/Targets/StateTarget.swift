// The files of state: what is understood of them is written so that it is understood again.

import Dispatch
import TweaksStorage

/// Overrides and history. The first byte chooses which.
enum StateTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        if choice & 1 == 0 {
            try judge(text) { StateText.overrides($0, time: StandingTime()) }
        } else {
            try judge(text) { StateText.history($0, time: StandingTime()) }
        }
    }

    private static func judge(_ text: [UInt8], _ rewrite: ([UInt8]) -> [UInt8]?) throws(Finding) {
        guard let once = rewrite(text) else { return }
        guard let twice = rewrite(once) else {
            throw Finding("what was written is not taken: \(String(decoding: once, as: UTF8.self))")
        }
        try expect(
            once == twice,
            "\(String(decoding: once, as: UTF8.self)) becomes \(String(decoding: twice, as: UTF8.self))")
    }
}

/// A clock that stands still, so that an input means the same every time.
private struct StandingTime: StorageTime {
    private static let start = ContinuousClock.now

    var now: ContinuousClock.Instant { Self.start }
    var wall: Int64 { 1_795_300_000_000 }

    func wait(for bell: DispatchSemaphore, until deadline: ContinuousClock.Instant?) {}
}
