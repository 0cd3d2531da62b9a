// Counts the instructions of requests and commits under callgrind, and compares them with the budgets of a file.
//
// Instruction counts depend little on the load of the machine, so that an increase of a few percent is visible.

import Foundation

enum InstructionBenchmarks {
    private typealias InstructionCount = (name: String, value: Double)

    /// How far a count may exceed its budget.
    private static let tolerance = 1.03

    private static let loads = [
        (clients: 1, inFlight: 1, rounds: 4_000), (clients: 50, inFlight: 1, rounds: 80),
        (clients: 1, inFlight: 64, rounds: 64),
    ]

    /// Prints all counts.
    /// - Parameter budgets: The path of a file with lines `get 1 × 1: 9000`; nil compares nothing.
    /// - Returns: Whether all counts are within their budgets; false when budgets are given and callgrind is missing.
    static func run(budgets: String?) throws -> Bool {
        if !CountedProcess.missing.isEmpty {
            Table.skipped("instructions", "install \(CountedProcess.missing.joined(separator: " and "))")
            return budgets == nil
        }
        try stayOnOneProcessor()
        let limits = try budgets.map(read) ?? [:]
        let counts = try commits() + [fleetChange()] + requests(limits)
        return budgets.map { areWithinBudgets(counts, limits, $0) } ?? true
    }

    // MARK: Measuring

    /// Pins this process and its children to one processor. Otherwise the number of thread wake-ups depends on other
    /// processes, and varied by two percent of a set.
    private static func stayOnOneProcessor() throws {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let allowed = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
        let first = allowed?.split { !$0.isNumber }.first ?? "0"
        let process = Peer.process(["/usr/bin/taskset", "-acp", "\(first)", "\(getpid())"])
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
    }

    private static func commits() throws -> [InstructionCount] {
        let rows = [("commit", "≤ 2500"), ("commit, one observer", "≤ 4000")]
        let totals = try CountedProcess.pairs(["commits", "\(commitCount)"])
        if totals.count != rows.count { throw CountedProcess.Failure("commits were counted \(totals.count) times") }
        return zip(rows, totals).map { row, total in
            Table.row(row.0, value: total / Double(commitCount), unit: "instr", goal: row.1)
            return (row.0, total / Double(commitCount))
        }
    }

    private static let commitCount = 10_000

    /// A change of one of a fleet's 9,900 values: applied, and written as a line for the disk.
    private static func fleetChange() throws -> InstructionCount {
        let (name, count) = ("fleet change of 9,900 values", 1_000)
        guard let total = try CountedProcess.pairs(["fleet-changes", "\(count)"]).first else {
            throw CountedProcess.Failure("a fleet's changes were not counted")
        }
        Table.row(name, value: total / Double(count), unit: "instr", goal: "≤ 1000000")
        return (name, total / Double(count))
    }

    /// By TCP and by a Unix socket, each of processes of its own: a history that many clients share costs more.
    /// - Parameter budgets: What exceeds its budget is counted again, see ``lowest(_:within:)``.
    private static func requests(_ budgets: [String: Double]) throws -> [InstructionCount] {
        var counts: [InstructionCount] = []
        for isUnix in [false, true] {
            let tweaks = try CountedProcess.daemon()
            let redis = try CountedProcess.redis()
            let (ours, theirs) = (WireBenchmarks.ours, WireBenchmarks.theirs)
            try WireBenchmarks.fill(tweaks.port, ours.set)
            try WireBenchmarks.fill(redis.port, theirs.set)
            for load in loads {
                for (request, mine, other, goal) in [
                    ("get", ours.get, theirs.get, "≤ 1.0"), ("set", ours.set, theirs.set, "≤ 1.3"),
                ] {
                    let name = "\(isUnix ? "unix " : "")\(request) \(load.clients) × \(load.inFlight)"
                    let value = try lowest(within: budgets[name]) {
                        try instructions(load, mine, of: tweaks, isUnix: isUnix)
                    }
                    let peer = try instructions(load, other, of: redis, isUnix: isUnix)
                    Table.row(name, ours: value, theirs: peer, unit: "instr", goal: goal)
                    counts.append((name, value))
                }
            }
        }
        return counts
    }

    /// The instructions of one request, after a warm-up.
    private static func instructions(
        _ load: (clients: Int, inFlight: Int, rounds: Int), _ dialect: WireBenchmarks.Dialect, of peer: CountedProcess,
        isUnix: Bool
    ) throws -> Double {
        let clients = try WireBenchmarks.Clients(load.clients, inFlight: load.inFlight, dialect) {
            isUnix ? try Connection(unix: peer.socket) : try Connection(port: peer.port)
        }
        try clients.ask(rounds: load.rounds / 4)
        let total = try peer.instructions { try clients.ask(rounds: load.rounds) }
        return total / Double(load.clients * load.inFlight * load.rounds)
    }

    /// The lowest of up to five counts, which end with the first within the budget: the log writes a number of lines a
    /// second, so that requests on a machine that pauses pay for more lines than they cause.
    private static func lowest(within budget: Double?, _ count: () throws -> Double) rethrows -> Double {
        var lowest = try count()
        for _ in 1..<5 where lowest > (budget ?? .infinity) * tolerance { lowest = min(lowest, try count()) }
        return lowest
    }

    // MARK: Budgets

    private static func areWithinBudgets(
        _ counts: [InstructionCount], _ budgets: [String: Double], _ file: String
    ) -> Bool {
        let excesses = counts.compactMap { name, value -> String? in
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
