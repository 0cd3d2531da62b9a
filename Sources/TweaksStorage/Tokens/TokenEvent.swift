// What there is to tell about a token file.

import Tweaks
package import TweaksWire

/// News of a token file, for a log. No token is in it, and no digest.
package enum TokenEvent: Equatable, Sendable, CustomStringConvertible {
    /// Its tokens are in effect.
    case taken(path: String, count: Int)
    /// There is none.
    case missing(path: String)
    /// None of it counts, and why.
    case refused(path: String, String)
    /// A line of it does not count; or none, where no line is named.
    case problem(path: String, TokenText.Problem)
    /// So many further lines do not.
    case more(path: String, Int)
    /// Tokens of older lines, by name: only plain `auth` can show them, or nothing can where that is off.
    case plainOnly(path: String, [String], isOff: Bool)
    /// Changes of it may be noticed late, and why.
    case late(String)

    /// Whether somebody has to do something.
    package var isProblem: Bool {
        if case .taken = self { false } else { true }
    }

    /// A line of a log.
    package var description: String {
        switch self {
        case .taken(let path, let count): "\(path): \(count == 1 ? "1 token" : "\(count) tokens")"
        case .missing(let path):
            "\(path): there is no such file, so no token is taken; tweakctl token new NAME --scopes read makes it"
        case .refused(let path, let reason): "\(path): no token is taken: \(reason)"
        case .problem(let path, let problem):
            "\(path)\(problem.line.map { ":\($0)" } ?? ""): gives nothing: \(problem.error.message)"
        case .more(let path, let count): "\(path): \(count) further lines give nothing"
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
