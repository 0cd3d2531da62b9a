// Counts the instructions of requests and commits under callgrind, and holds them to the budgets of a file.
//
// Instructions say the same on a busy machine as on an idle one, so that a rise of some percent is seen. A figure is the
// difference of two runs of the same process that differ in the number of requests alone.

import Foundation

enum InstructionBenchmarks {
    /// How far above its budget a figure may be.
    private static let tolerance = 1.03

    private struct Load {
        let clients: Int
        let inFlight: Int
        let rounds: Int

        var name: String { "\(clients) × \(inFlight)" }
        var requests: Int { clients * inFlight * rounds }
    }

    private static let loads = [
        Load(clients: 1, inFlight: 1, rounds: 2_000), Load(clients: 50, inFlight: 1, rounds: 40),
        Load(clients: 1, inFlight: 64, rounds: 40),
    ]

    /// Prints all figures.
    /// - Parameter budgets: A file of lines `get 1 × 1: 9000`; nil holds nothing to anything.
    /// - Returns: Whether every figure keeps to its budget.
    static func run(budgets: String?) throws -> Bool {
        guard Counted.isInstalled else {
            Table.skipped("instructions", "install valgrind")
            return true
        }
        var figures: [(name: String, value: Double)] = []
        for observers in [0, 1] {
            let name = observers == 0 ? "commit" : "commit, one observer"
            let value = try perOperation(20_000) { try Counted.run(["commits", "\($0)", "\(observers)"]) }
            Table.row(name, value: value, unit: "instr", goal: observers == 0 ? "≤ 2500" : "≤ 4000")
            figures.append((name, value))
        }
        for load in loads {
            for request in ["get", "set"] {
                let name = "\(request) \(load.name)"
                let ours = try perRequest(load, request, of: WireBenchmarks.ours) { try Counted.daemon() }
                figures.append((name, ours))
                guard let theirs = try redis(load, request) else {
                    Table.row(name, value: ours, unit: "instr", goal: "")
                    continue
                }
                Table.row(name, ours: ours, theirs: theirs, unit: "instr", goal: request == "get" ? "≤ 1.2" : "≤ 1.3")
            }
        }
        return try budgets.map { try holds(figures, to: $0) } ?? true
    }

    private static func redis(_ load: Load, _ request: String) throws -> Double? {
        guard try Counted.redis() != nil else { return nil }
        return try perRequest(load, request, of: WireBenchmarks.theirs) { try Counted.redis() }
    }

    // MARK: Measuring

    private static func perOperation(_ count: Int, _ instructions: (Int) throws -> Double) throws -> Double {
        (try instructions(3 * count) - instructions(count)) / Double(2 * count)
    }

    private static func perRequest(
        _ load: Load, _ request: String, of dialects: WireBenchmarks.Dialects, _ start: () throws -> Counted?
    ) throws -> Double {
        let dialect = request == "get" ? dialects.get : dialects.set
        return try perOperation(load.requests) { count in
            guard let peer = try start() else { return 0 }
            try WireBenchmarks.fill(peer.port, dialects.set)
            try WireBenchmarks.ask(
                peer.port, dialect, clients: load.clients, inFlight: load.inFlight,
                rounds: load.rounds * count / load.requests)
            return try peer.end()
        }
    }

    // MARK: Budgets

    private static func holds(_ figures: [(name: String, value: Double)], to file: String) throws -> Bool {
        var budgets: [String: Double] = [:]
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#")
        {
            let parts = line.split(separator: ":")
            if parts.count == 2 { budgets[String(parts[0])] = Double(parts[1].trimmingCharacters(in: .whitespaces)) }
        }
        var holds = true
        for (name, value) in figures {
            guard let budget = budgets[name] else {
                print("\(file): there is no budget for \(name); write \(name): \(Int(value))")
                holds = false
                continue
            }
            if value <= budget * tolerance { continue }
            print("\(file): \(name) takes \(Int(value)) instructions, the budget is \(Int(budget))")
            holds = false
        }
        return holds
    }
}
