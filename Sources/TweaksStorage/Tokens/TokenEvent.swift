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
        case .late(let reason): reason
        }
    }
}
