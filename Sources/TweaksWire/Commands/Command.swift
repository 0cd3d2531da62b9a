// A command is data: its name, arguments, permission and help, from which parsing, completion and documents follow.

import Tweaks

/// One command of the protocol. Each is declared once, in the file of its family.
package final class Command: Sendable {
    package let name: String
    package let arguments: [Argument]
    /// What it takes without keywords that take more.
    package let permission: RequiredPermission
    package let effect: Effect
    package let summary: String
    package let example: String

    /// What a command does to values.
    package enum Effect: Sendable {
        case none, changes
        /// It changes values, or waits in an open batch; an error in it spoils the batch.
        case isQueued
    }

    let positionals: [Argument]
    /// The keywords, and how many arguments with a place stand before each.
    let options: [(argument: Argument, position: Int)]
    /// The argument at the end, behind a bare word of its own.
    let marked: (marker: String, kind: Argument.Kind)?
    /// How many arguments it takes at least.
    let leastCount: Int
    /// Whether its last argument takes all that comes.
    let isOpen: Bool

    init(
        _ name: String, _ arguments: Argument..., permission: RequiredPermission, effect: Effect = .none,
        help: String, example: String
    ) {
        (self.name, self.arguments, self.permission, self.effect) = (name, arguments, permission, effect)
        (summary, self.example) = (help, example)
        positionals = arguments.filter(\.isPositional)
        options = arguments.indices.filter { arguments[$0].kind == nil }.map { index in
            (arguments[index], arguments[..<index].count(where: \.isPositional))
        }
        marked =
            arguments.lazy.compactMap { argument in
                argument.marker.flatMap { marker in argument.kind.map { (marker, $0) } }
            }.first
        leastCount = positionals.reduce(0) { $0 + $1.counts.lowerBound }
        isOpen = positionals.last?.counts.upperBound == .max
    }

    /// Name and arguments.
    package var synopsis: String { ([name] + arguments.compactMap(\.synopsis)).joined(separator: " ") }

    /// Whether an argument may look like anything: a value, an argument of an action, or a text.
    package var takesAnyText: Bool { positionals.contains { [.value, .argument, .text].contains($0.kind) } }
    /// Whether it takes a value of a tweak.
    package var takesValue: Bool { positionals.contains { $0.kind == .value } }

    /// The keywords that can be there or not, by their names without dashes.
    package var flags: [String: Keyword] {
        let keywords = arguments.filter { $0.kind == nil && $0.isShown && $0.keywords.count == 1 }.flatMap(\.keywords)
        return Dictionary(uniqueKeysWithValues: keywords.map { (String($0.rawValue.drop { $0 == "-" }), $0) })
    }

    /// The command with this name.
    package static func named(_ name: String) -> Command? { byName[name] }

    private static let byName = {
        var commands = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        commands["?"] = .help
        return commands
    }()

    /// All commands of the protocol, in the order of help.
    package static let all = groups.flatMap(\.commands)

    /// The commands of one subject, under its heading.
    package struct Group: Sendable {
        package let title: String
        package let commands: [Command]
    }

    /// The commands as people look for them.
    package static let groups: [Group] = [
        valuesGroup, batchesGroup, historyGroup, watchingGroup, presetsGroup, accessGroup, processGroup, sessionGroup,
    ]
}

extension Command: Hashable {
    package static func == (one: Command, other: Command) -> Bool { one === other }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
