// TweaksBenchmarks soak --minutes N [--seed S] [--sessions N]: a daemon lives through a crowd, and nothing is left of it.

import Foundation
import Tweaks

/// A thousand sessions come, go, set, watch, stall, half-close and vanish while config files change and the listener is
/// started anew. Memory, descriptors and threads after that are compared with those after the first minute.
struct Soak {
    private var minutes = 2.0
    private var seed: UInt64 = 1
    private var sessions = 1_000

    /// More allocated bytes are a leak: forty of each of a hundred thousand sessions. By half a mebibyte or so they go up
    /// and down with the texts that are set at the moment, and with what the last fifty commits have changed.
    private static let allocationAllowance = 4 * 1_048_576
    /// More resident bytes are a leak where the allocator does not count. Where it does they are no measure: glibc spreads
    /// the threads of every restart over arenas, and each keeps pages for a fragment here and there.
    private static let residentAllowance = 16 * 1_048_576

    /// Nil when it makes no sense.
    init?(_ arguments: [String]) {
        for (name, value) in zip(arguments, arguments.dropFirst()) where name.hasPrefix("--") {
            switch name {
            case "--minutes": minutes = Double(value) ?? 0
            case "--seed": seed = UInt64(value) ?? 0
            case "--sessions": sessions = Int(value) ?? 0
            default: return nil
            }
        }
        if minutes <= 0 || seed == 0 || sessions <= 0 || !arguments.count.isMultiple(of: 2) { return nil }
    }

    /// Runs, and prints what it found.
    /// - Returns: Whether everything ended where it began.
    func run() throws -> Bool {
        let served = try SoakServer(seed: seed)
        let crowd = try SoakCrowd(served, sessions: sessions, seed: seed)
        let warmUp = min(60, minutes * 15)
        say("\(sessions) sessions at once, seed \(seed); warm-up \(Int(warmUp)) s of \(Int(minutes * 60)) s")
        let before = try pass(served, crowd, seconds: warmUp)
        say("after the warm-up: \(before.text)")
        let after = try pass(served, crowd, seconds: minutes * 60 - warmUp, before)
        say("at the end:        \(after.text)")
        let lives = try crowd.end()
        say(lives)
        say(served.account)
        served.stop()
        return judge(before, after)
    }

    /// Lets the crowd live, sends it away, and looks at what is left.
    private func pass(
        _ served: SoakServer, _ crowd: SoakCrowd, seconds: Double, _ before: ProcessFigures? = nil
    ) throws -> ProcessFigures {
        try crowd.go()
        try served.live(seconds: seconds)
        try crowd.pause()
        // A daemon that was stopped has let go of everything; the next one is as fresh as the first.
        try served.restart()
        return ProcessFigures.settled(threads: before?.threads.count)
    }

    private func judge(_ before: ProcessFigures, _ after: ProcessFigures) -> Bool {
        let verdicts = [
            judgeMemory(before, after),
            // The history's file is open from its first append until it is written anew.
            (
                after.descriptors <= before.descriptors + 1,
                "descriptors: \(before.descriptors), then \(after.descriptors)"
            ),
            (
                after.threads.count <= before.threads.count,
                "threads: \(before.threads.count), then \(after.threads.count)"
            ),
        ]
        for (isGood, text) in verdicts { say("\(isGood ? "good" : "BAD") – \(text)") }
        return verdicts.allSatisfy(\.0)
    }

    private func judgeMemory(_ before: ProcessFigures, _ after: ProcessFigures) -> (Bool, String) {
        if let first = before.allocatedBytes, let last = after.allocatedBytes {
            return (last - first <= Self.allocationAllowance, "allocated memory grew by \((last - first) / 1_024) KiB")
        }
        let growth = after.residentBytes - before.residentBytes
        return (growth <= Self.residentAllowance, "resident memory grew by \(growth / 1_024) KiB")
    }

    private func say(_ text: String) { FileHandle.standardOutput.write(Data("soak: \(text)\n".utf8)) }
}
