// Fuzzes the state files: entries that were read survive a round trip.

import Dispatch
import Tweaks
import TweaksStorage

/// Overrides and history. The first byte selects which.
enum StateTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let text = Array(bytes.dropFirst())
        if choice & 1 == 0 {
            try check(text) { StateFileCodec.overrides($0, time: StoppedClock()) }
        } else {
            try check(text) { StateFileCodec.history($0, time: StoppedClock()) }
        }
    }

    private static func check(_ text: [UInt8], _ rewrite: ([UInt8]) -> [UInt8]?) throws(Finding) {
        guard let once = rewrite(text) else { return }
        guard let twice = rewrite(once) else {
            throw Finding("the written file is rejected: \(String(decoding: once, as: UTF8.self))")
        }
        try expect(
            once == twice,
            "\(String(decoding: once, as: UTF8.self)) becomes \(String(decoding: twice, as: UTF8.self))")
    }
}

/// A clock that stands still, so that an input has the same meaning in each run.
private struct StoppedClock: StorageTime {
    private static let start = Moment.now

    var now: Moment { Self.start }
    var wall: Int64 { 1_795_300_000_000 }

    func wait(for bell: DispatchSemaphore, until deadline: Moment?) {}
}
