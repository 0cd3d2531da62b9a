// Fuzzes every way into a process with inputs that a grammar builds: numbers, durations, colors, points, lists, dates.

import Tweaks

/// Choices of the grammar. The first byte selects the way.
enum GrammarTarget {
    static func run(_ input: [UInt8]) throws(Finding) {
        var choices = Choices(input)
        switch choices.below(12) {
        case 0, 1: try runSession(&choices)
        case 2, 3: try runHTTP(&choices)
        case 10, 11: try ValuesTarget.run(&choices)
        case 4: try ConfigTarget.run(prefixed(&choices) { $0.several(6) { $0.assignment() + "\n" } })
        case 5: try StateTarget.run([0] + bytes(&choices) { $0.overrides() })
        case 6: try StateTarget.run([1] + bytes(&choices) { $0.history() })
        case 7: try TokensTarget.run(prefixed(&choices) { $0.tokens() })
        case 8: try EtcdTarget.run(prefixed(&choices) { $0.below(2) == 0 ? $0.etcdAnswer() : $0.etcdResponse() })
        default:
            try FleetTarget.run(bytes(&choices) { $0.several(6) { $0.fleetKey() } })
            try OperatorTarget.run(&choices)
        }
    }

    private static func bytes(_ choices: inout Choices, _ make: (inout Choices) -> String) -> [UInt8] {
        let text = make(&choices)
        return choices.mutated(text)
    }

    /// The same with a byte of the target's own choice in front.
    private static func prefixed(_ choices: inout Choices, _ make: (inout Choices) -> String) -> [UInt8] {
        [UInt8(choices.below(256))] + bytes(&choices, make)
    }

    private static func runSession(_ choices: inout Choices) throws(Finding) {
        let role = GuestRole.all[GuestRole.all.count - 1 - choices.below(GuestRole.all.count)]
        let harness = try SessionHarness(role)
        var isGuest = true
        repeat {
            let lines = bytes(&choices) { choices in
                (0..<(1 + choices.below(3))).map { _ in choices.line() + "\n" }.joined()
            }
            if isGuest { try harness.sendAsGuest(lines[...]) } else { try harness.sendAsOwner(lines[...]) }
            isGuest.toggle()
        } while !choices.isAtEnd
        try harness.end()
    }

    private static func runHTTP(_ choices: inout Choices) throws(Finding) {
        let harness = try HTTPHarness()
        repeat {
            try harness.send(bytes(&choices) { $0.http(harness.token) })
        } while !choices.isAtEnd
        try harness.end()
    }
}
