// What a client can ask.

package import Tweaks

/// One request, parsed; what it names is looked up by the server.
package enum Request: Equatable, Sendable {
    case help(command: String?)
    case list(prefix: String?)
    case get([String])
    case set(path: String, Change)
    /// For a while.
    case setFor(path: String, Change, lifetime: String)
    case keep([String])
    case check(path: String, Change)
    case reset([String])
    /// The assignments of a text, all or none, and its lines that are no assignments. No line of the protocol asks for
    /// it.
    case `import`([AssignmentLines.Assignment], problems: [ConfigProblem] = [], dry: Bool = false)
    case describe(String)
    case explain(String)
    case find([String])
    case modified(String?)
    /// Patterns; with `modified` also whatever differs from its default.
    case watch([String], modified: Bool = false, since: UInt64?)
    /// One pattern, or `modified`; nil without that: all.
    case unwatch(String?, modified: Bool = false)
    case run(path: String, arguments: [String])
    case begin(revision: UInt64?)
    case commit
    case abort
    case export(String?)
    case conflicts
    case reload(dry: Bool)
    case history(Int?)
    /// The last change of all, or the session's own last one.
    case undo(force: Bool, mine: Bool = false)
    case redo(force: Bool, mine: Bool = false)
    case save(name: String, pattern: String?)
    case load(name: String, only: Bool, partly: Bool)
    case presets
    case delete(name: String)
    /// One name: against what is in force.
    case diff(String, String?)
    case swap(name: String, force: Bool)
    /// Shows who it is.
    case auth(Proof)
    /// The name of the person there; nil takes it back.
    case `as`(String?)
    case whoami
    case drop([String])
    case request([String])
    case sessions
    /// The address of the web page with its token, which may be made anew.
    case panel(rotate: Bool)
    case kick(session: UInt64)
    case hello(version: Int, json: Bool)
    case json(Bool)
    case prompt(Bool)
    case ping
    case stats
    case complete(String)
    case quit

    /// How a token is shown.
    package enum Proof: Equatable, Sendable {
        /// As it is.
        case plain(String)
        /// By a message of SCRAM, the first or the last one of a client.
        case scram(String)
        /// By a whole exchange that was led elsewhere. The reply has the field ``sessionKey``.
        case exchange(Scram.Server, last: String)
        /// To who keeps the key id for it: nothing is left to be looked at but whether it is still good.
        case keyID(String)

        /// A field of a reply that is not for the client.
        package static let sessionKey = "sessionKey"
    }

    /// What is asked of one tweak.
    package enum Change: Equatable, Sendable {
        /// As a person writes it: also a sum, or with a unit.
        case assign(String)
        /// As a program or a file writes it.
        case assignExactly(String)
        case add(String)
        case subtract(String)
        case toggle
    }
}
