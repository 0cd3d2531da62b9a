// Describes the events of a token file.

import Tweaks
package import TweaksWire

/// An event of a token file, for the log. Contains neither tokens nor digests.
package enum TokenEvent: Equatable, Sendable, CustomStringConvertible {
    /// Its tokens are in effect.
    case loaded(path: String, count: Int)
    /// The file does not exist.
    case missing(path: String)
    /// The file was rejected, with the reason.
    case refused(path: String, String)
    /// A line was ignored; or none, if the problem has no line number.
    case problem(path: String, TokenText.Problem)
    /// This many further lines were ignored.
    case more(path: String, Int)
    /// Plain sign-in is off, because some lines are not understood.
    case plainOff(path: String)
    /// The names of tokens in the old format, which only plain `auth` accepts; they are unusable if that is off.
    case plainOnly(path: String, [String], isOff: Bool)
    /// Changes of the file may be noticed late, with the reason.
    case late(String)

    /// Whether it needs the attention of an operator.
    package var isProblem: Bool {
        if case .loaded = self { false } else { true }
    }

    /// A log line.
    package var description: String {
        switch self {
        case .loaded(let path, let count): "\(path): \(count == 1 ? "1 token" : "\(count) tokens")"
        case .missing(let path):
            "\(path): there is no such file, so no token is accepted; tweakctl token new NAME --scopes read makes it"
        case .refused(let path, let reason): "\(path): no token is accepted: \(reason)"
        case .problem(let path, let problem):
            "\(path)\(problem.line.map { ":\($0)" } ?? ""): ignored: \(problem.error.message)"
        case .more(let path, let count): "\(path): \(count) further lines are ignored"
        case .plainOff(let path): "\(path): \(TokenText.plainOffByMistake)"
        case .plainOnly(let path, let names, let isOff): Self.plainOnly(path, names, isOff: isOff)
        case .late(let reason): reason
        }
    }

    private static let mostNames = 5

    private static func plainOnly(_ path: String, _ names: [String], isOff: Bool) -> String {
        let rest = names.count > mostNames ? " and \(names.count - mostNames) more" : ""
        let use = isOff ? "are of no use while plain-auth is off" : "show the token itself to the program that listens"
        return "\(path): lines with sha256: \(use) (\(names.prefix(mostNames).joined(separator: ", "))\(rest)); "
            + "tweakctl token renew \(names.first ?? "NAME") makes a token that is never sent"
    }
}
