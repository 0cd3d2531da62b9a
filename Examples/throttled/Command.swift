// Defines the commands of the service: a table row and a function for each.

import Foundation

/// A command of the service.
struct Command: Sendable {
    let name: String
    /// The arguments in the help text, with a leading blank.
    let arguments: String
    let run: @Sendable (Substring) -> Answer

    /// All commands, in the order of the help text.
    static let all: [Command] = [
        Command(name: "upper", arguments: " TEXT") { .ok($0.uppercased()) },
        Command(name: "reverse", arguments: " TEXT") { .ok(String($0.reversed())) },
        Command(name: "sum", arguments: " NUMBER…", run: sum),
        Command(name: "time", arguments: "") { _ in .ok(Date.now.formatted(.iso8601)) },
        Command(name: "help", arguments: "") { _ in .ok(usage) },
        Command(name: "quit", arguments: "") { _ in .bye },
    ]

    /// Executes a line.
    static func answer(_ line: String) -> Answer {
        let words = line.split(separator: " ", maxSplits: 1)
        guard let name = words.first else { return .error("an empty line; type help") }
        guard let command = all.first(where: { $0.name == name }) else { return .error("no such command; type help") }
        return command.run(words.dropFirst().first ?? "")
    }

    private static let usage = all.map { $0.name + $0.arguments }.joined(separator: ", ")

    @Sendable private static func sum(_ text: Substring) -> Answer {
        var total = 0
        for word in text.split(separator: " ") {
            guard let number = Int(word) else { return .error("sum takes whole numbers, as in: sum 1 2 3") }
            let (next, overflow) = total.addingReportingOverflow(number)
            if overflow { return .error("sum is too large") }
            total = next
        }
        return .ok("\(total)")
    }
}
