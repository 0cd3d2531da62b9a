// Checks a daemon under many sessions for leaks: TweaksBenchmarks soak --minutes N [--seed S] [--sessions N]

import Foundation
import Tweaks

/// A thousand sessions set, watch, stall, half-close and disconnect while config files change and the daemon restarts.
/// Memory, descriptors and threads at the end are compared with those after the first minute.
struct Soak {
    private var minutes = 2.0
    private var seed: UInt64 = 1
    private var sessions = 1_000

    /// Growth of allocated bytes beyond this is a leak: forty bytes for each of a hundred thousand sessions. They vary
    /// by half a mebibyte with the texts that are currently set and the changes of the last fifty commits.
    private static let allocationAllowance = 4 * 1_048_576
    /// Growth of resident bytes beyond this is a leak where the allocator does not count. With glibc resident bytes are
    /// not conclusive: threads of every restart use several arenas, and fragments keep their pages in use.
    private static let residentAllowance = 16 * 1_048_576

    /// Nil when the arguments are invalid.
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

    /// Runs the soak and prints the results.
    /// - Returns: Whether memory, descriptors and threads did not grow.
    func run() throws -> Bool {
        let served = try SoakServer(seed: seed)
        let clients = try SoakClientProcess(served, sessions: sessions, seed: seed)
        let warmUp = min(60, minutes * 15)
        log("\(sessions) sessions at once, seed \(seed); warm-up \(Int(warmUp)) s of \(Int(minutes * 60)) s")
        let before = try pass(served, clients, seconds: warmUp)
        log("after the warm-up: \(before.text)")
        let after = try pass(served, clients, seconds: minutes * 60 - warmUp, before)
        log("at the end:        \(after.text)")
        log(try clients.end())
        log(served.account)
        served.stop()
        return check(before, after)
    }

    /// Runs the clients, disconnects them, and measures the process.
    private func pass(
        _ served: SoakServer, _ clients: SoakClientProcess, seconds: Double, _ before: ProcessMetrics? = nil
    ) throws -> ProcessMetrics {
        try clients.resume()
        try served.run(seconds: seconds)
        try clients.pause()
        // Stopping a daemon releases all its resources; the next one starts as fresh as the first.
        try served.restart()
        return ProcessMetrics.settled(threads: before?.threads.count)
    }

    private func check(_ before: ProcessMetrics, _ after: ProcessMetrics) -> Bool {
        let verdicts = [
            checkMemory(before, after),
            // The history file is open from its first append until it is rewritten.
            checkCount("descriptors", before.descriptors, after.descriptors, allowance: 1),
            checkCount("threads", before.threads.count, after.threads.count, allowance: 0),
        ]
        for (isGood, text) in verdicts { log("\(isGood ? "good" : "BAD") – \(text)") }
        return verdicts.allSatisfy(\.0)
    }

    private func checkCount(_ name: String, _ before: Int, _ after: Int, allowance: Int) -> (Bool, String) {
        (after <= before + allowance, "\(name): \(before), then \(after)")
    }

    private func checkMemory(_ before: ProcessMetrics, _ after: ProcessMetrics) -> (Bool, String) {
        if let first = before.allocatedBytes, let last = after.allocatedBytes {
            return (last - first <= Self.allocationAllowance, "allocated memory grew by \((last - first) / 1_024) KiB")
        }
        let growth = after.residentBytes - before.residentBytes
        return (growth <= Self.residentAllowance, "resident memory grew by \(growth / 1_024) KiB")
    }

    private func log(_ text: String) { writeLine("soak: \(text)") }
}
