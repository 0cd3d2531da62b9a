// Counts the instructions of requests and commits under callgrind, and holds them to the budgets of a file.
//
// Instructions say the same on a busy machine as on an idle one, so that a rise of some percent is seen.

import Foundation

enum InstructionBenchmarks {
    private typealias Figure = (name: String, value: Double)

    /// How far above its budget a figure may be.
    private static let tolerance = 1.03

    private static let loads = [
        (clients: 1, inFlight: 1, rounds: 4_000), (clients: 50, inFlight: 1, rounds: 80),
        (clients: 1, inFlight: 64, rounds: 64),
    ]

    /// Prints all figures.
    /// - Parameter budgets: A file of lines `get 1 × 1: 9000`; nil holds nothing to anything.
    /// - Returns: Whether every figure keeps to its budget. Without what counts none does.
    static func run(budgets: String?) throws -> Bool {
        if !Counted.missing.isEmpty {
            Table.skipped("instructions", "install \(Counted.missing.joined(separator: " and "))")
            return budgets == nil
        }
        try stayOnOneProcessor()
        let figures = try commits() + requests()
        return try budgets.map { try holds(figures, to: $0) } ?? true
    }

    // MARK: Measuring

    /// Keeps this process and those that it starts on one processor. How often a thread has to be woken depends on what
    /// runs beside it, and was as much as two percent of a set.
    private static func stayOnOneProcessor() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let allowed = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
        let first = allowed?.split { !$0.isNumber }.first ?? "0"
        let process = Peer.process(["/usr/bin/taskset", "-acp", "\(first)", "\(getpid())"])
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
    }

    private static func commits() throws -> [Figure] {
        let rows = [("commit", "≤ 2500"), ("commit, one observer", "≤ 4000")]
        let totals = try Counted.pairs(["commits", "\(commitCount)"])
        if totals.count != rows.count { throw Counted.Failure("commits were counted \(totals.count) times") }
        return zip(rows, totals).map { row, total in
            Table.row(row.0, value: total / Double(commitCount), unit: "instr", goal: row.1)
            return (row.0, total / Double(commitCount))
        }
    }

    private static let commitCount = 10_000

    private static func requests() throws -> [Figure] {
        let (tweaks, redis) = (try Counted.daemon(), try Counted.redis())
        let (ours, theirs) = (WireBenchmarks.ours, WireBenchmarks.theirs)
        try WireBenchmarks.fill(tweaks.port, ours.set)
        try WireBenchmarks.fill(redis.port, theirs.set)
        var figures: [Figure] = []
        for load in loads {
            for (request, mine, other, goal) in [
                ("get", ours.get, theirs.get, "≤ 1.2"), ("set", ours.set, theirs.set, "≤ 1.3"),
            ] {
                let name = "\(request) \(load.clients) × \(load.inFlight)"
                let value = try instructions(load, mine, of: tweaks)
                let peer = try instructions(load, other, of: redis)
                Table.row(name, ours: value, theirs: peer, unit: "instr", goal: goal)
                figures.append((name, value))
            }
        }
        return figures
    }

    /// Of one request, after as many that are not counted.
    private static func instructions(
        _ load: (clients: Int, inFlight: Int, rounds: Int), _ dialect: WireBenchmarks.Dialect, of peer: Counted
    ) throws -> Double {
        let clients = try WireBenchmarks.Clients(load.clients, inFlight: load.inFlight, peer.port, dialect)
        try clients.ask(rounds: load.rounds / 4)
        let total = try peer.instructions { try clients.ask(rounds: load.rounds) }
        return total / Double(load.clients * load.inFlight * load.rounds)
    }

    // MARK: Budgets

    private static func holds(_ figures: [Figure], to file: String) throws -> Bool {
        let budgets = try read(file)
        let excesses = figures.compactMap { name, value -> String? in
            guard let budget = budgets[name] else {
                return "there is no budget for \(name); write \(name): \(Int(value))"
            }
            if value <= budget * tolerance { return nil }
            return
                "\(name) takes \(Int(value)) instructions, the budget is \(Int(budget)); make it cheaper, or raise it"
        }
        for excess in excesses { print("\(file): \(excess)") }
        return excesses.isEmpty
    }

    private static func read(_ file: String) throws -> [String: Double] {
        var budgets: [String: Double] = [:]
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: ":")
            if line.hasPrefix("#") || parts.count != 2 { continue }
            budgets[String(parts[0])] = Double(parts[1].trimmingCharacters(in: .whitespaces))
        }
        return budgets
    }
}
