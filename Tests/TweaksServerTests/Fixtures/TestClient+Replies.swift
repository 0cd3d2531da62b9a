// Shorthands for what tests ask most: the status of a reply, its JSON, and fields of `stats` and `whoami`.

import TweaksTestSupport

extension TestClient {
    /// Sends a line and returns the status line of the reply.
    func status(_ line: String) throws -> String { try ask(line).last ?? "" }

    /// The status line of the next reply.
    func status() throws -> String { try reply().last ?? "" }

    /// Sends a line in JSON mode and returns the reply, which is one line.
    func json(_ line: String) throws -> String {
        try send(line + "\n")
        return try self.line()
    }

    /// Sends everything at once and ends the input; all lines until the server ends the connection.
    func exchange(_ text: String) throws -> [String] {
        try send(text)
        endInput()
        return try restOfLines()
    }

    /// The values of a field in the reply to a command.
    private func values(_ field: String, of command: String) throws -> [String] {
        try ask(command).filter { $0.hasPrefix("  \(field): ") }.map { String($0.dropFirst(field.count + 4)) }
    }

    /// The values of a field of `whoami`.
    func whoami(_ field: String) throws -> [String] { try values(field, of: "whoami") }

    /// The value of a field of `stats`; empty if there is none.
    func stats(_ field: String) throws -> String { try values(field, of: "stats").first ?? "" }

    /// The limits that were hit so far, such as `unsentBytes 3`.
    func limitsHit() throws -> [String] {
        try stats("limitsHit").split(separator: ",").map { String($0.drop { $0 == " " }) }
    }

    /// Whether a limit was hit so far.
    func hasHit(_ limit: String) throws -> Bool { try limitsHit().contains { $0.hasPrefix("\(limit) ") } }
}
