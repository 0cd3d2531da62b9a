// Defines the commands: name, arguments, permission and help, for parsing, completion and documentation.

package import Tweaks

/// The commands, by their names.
package enum Command: Int, CaseIterable, Sendable {
    case help, ls, get, set, keep, reset, check, find, modified, describe, explain, export, run, `import`
    case begin, commit, abort, undo, redo, history, drag, preview, watch, unwatch, samples
    case save, load, swap, diff, presets, delete
    case auth, `as`, whoami, drop, request, sessions, panel, kick
    case reload, conflicts, stats, hello, complete, json, prompt, ping, quit

    package var name: String { entry.name }
    package var permission: RequiredPermission { entry.permission }
    package var effect: Effect { entry.effect }
    package var summary: String { entry.summary }
    package var example: String { entry.example }
    /// The name and the arguments.
    package var synopsis: String { ([name] + entry.arguments.compactMap(\.synopsis)).joined(separator: " ") }
    /// Whether an argument can be any text: a value, an argument of an action, or a text.
    package var takesAnyText: Bool { entry.positionals.contains { [.value, .argument, .text].contains($0.kind) } }
    /// Whether it takes a value of a tweak.
    package var takesValue: Bool { entry.positionals.contains { $0.kind == .value } }

    /// The command of the protocol with this name.
    package static func named(_ name: String) -> Command? { byName[name] }

    private static let byName = {
        var commands = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
        commands["?"] = .help
        return commands
    }()

    /// All commands of the protocol, in the order of help.
    package static let all = groups.flatMap(\.commands)

    /// The commands by subject.
    package static let groups = [
        valuesGroup, batchesGroup, historyGroup, watchingGroup, presetsGroup, accessGroup, processGroup, sessionGroup,
    ]

    /// The commands of one subject, under its heading.
    package struct Group: Sendable {
        package let title: String
        package var commands: [Command] { entries.map(\.command) }
        fileprivate let entries: [Entry]

        init(_ title: String, _ entries: [Entry]) {
            self.title = title
            self.entries = entries
        }
    }

    /// The effect of a command on values.
    package enum Effect: Sendable {
        case none, changes
        /// Changes values, or is queued in an open batch; an error in it invalidates the batch.
        case isQueued
    }

    /// Its declaration, from the file of its group.
    var entry: Entry { Entry.table[rawValue] }
}

extension Command {
    /// The declaration of one command.
    final class Entry: Sendable {
        let command: Command
        let name: String
        let arguments: [Argument]
        /// The permission it requires without keywords that require more.
        let permission: RequiredPermission
        let effect: Effect
        let summary: String
        let example: String

        let positionals: [Argument]
        /// The keywords.
        let options: [Argument]
        /// The last argument, introduced by an unquoted word.
        let marked: Argument?
        /// The minimum number of arguments.
        let minimumCount: Int
        /// Whether its last argument can occur any number of times.
        let isVariadic: Bool

        @inline(never) init(
            _ command: Command, _ name: String, _ arguments: Argument..., permission: RequiredPermission,
            effect: Effect = .none,
            help: String, example: String
        ) {
            self.command = command
            self.name = name
            self.arguments = arguments
            self.permission = permission
            self.effect = effect
            summary = help
            self.example = example
            var (positionals, options) = ([Argument](), [Argument]())
            for var argument in arguments where argument.marker == nil {
                argument.position = positionals.count
                if argument.kind == nil { options.append(argument) } else { positionals.append(argument) }
            }
            self.positionals = positionals
            self.options = options
            marked = arguments.first { $0.marker != nil }
            minimumCount = positionals.reduce(0) { $0 + $1.counts.lowerBound }
            isVariadic = positionals.last?.counts.upperBound == .max
        }

        fileprivate static let table = {
            let entries = groups.flatMap(\.entries) + [imports]
            return Command.allCases.map { command in
                guard let entry = entries.first(where: { $0.command == command }) else {
                    preconditionFailure("a command is declared in no group; add its entry")
                }
                return entry
            }
        }()
    }
}

/// The permission that a request requires. The scope is checked for each tweak when the request is executed.
package enum RequiredPermission: Equatable, Sendable {
    /// None: also allowed before authentication.
    case nothing
    /// An authenticated session.
    case session
    /// Access to see some values, or some actions that may be run.
    case visibility
    /// This kind of access to some tweak.
    case some(TweakScope.Kind)
    /// This kind of access to all tweaks, because it cannot be limited to a few.
    case whole(TweakScope.Kind)
}

extension Rights {
    /// Whether a request with this permission may be executed.
    package func meets(_ permission: RequiredPermission) -> Bool {
        switch permission {
        case .nothing, .session: true
        case .visibility: has(.read) || has(.run)
        case .some(let kind): has(kind)
        case .whole(let kind): isWhole(kind)
        }
    }
}
