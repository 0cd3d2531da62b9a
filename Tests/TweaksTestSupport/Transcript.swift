// Parses written sessions and replays them against a server.

package import Testing

/// A session: lines that begin with `> ` are sent by the client, all others are the expected answers.
///
/// A `…` in an answer matches any text. Prompts of an interactive session are not part of the answers.
package struct Transcript: Sendable {
    /// One line of the client and the answers before its next one.
    package struct Step: Equatable, Sendable {
        package var typed: String
        package var answers: [String] = []
    }

    /// How a session is sent.
    package enum Pacing: String, CaseIterable, Sendable {
        /// Each line after the answer to the previous one.
        case lineByLine
        /// All lines in one packet, then the end of input.
        case atOnce
        /// Each byte separately, then the end of input.
        case byteByByte
    }

    package private(set) var steps: [Step] = []

    /// Parses a session.
    package init(_ text: String) {
        for line in text.splitLines() {
            if line.hasPrefix("> ") || line == ">" {
                steps.append(Step(typed: String(line.dropFirst(2))))
            } else if !steps.isEmpty {
                steps[steps.count - 1].answers.append(line)
            }
        }
    }

    /// Replays the session and compares every line.
    /// - Parameter lineEnd: The end of each sent line and each expected answer.
    package func replay(
        _ pacing: Pacing, with client: TestClient, lineEnd: String = "\n",
        at location: SourceLocation = #_sourceLocation
    ) throws {
        switch pacing {
        case .lineByLine:
            for step in steps {
                try client.send(step.typed + lineEnd)
                compare(try client.lines(step.answers.count), step.answers, "\(step.typed)", lineEnd, location)
            }
            client.endInput()
            let rest = try client.rest()
            #expect(Self.withoutPrompts(rest).isEmpty, "after the end: \(rest)", sourceLocation: location)
        case .atOnce, .byteByByte:
            let bytes = Array(steps.map { $0.typed + lineEnd }.joined().utf8)
            if pacing == .atOnce { try client.send(bytes) } else { try client.sendBytewise(bytes) }
            client.endInput()
            var lines = try client.rest().splitLines()
            let last = lines.removeLast()
            #expect(Self.withoutPrompts(last).isEmpty, "unfinished: \(last)", sourceLocation: location)
            compare(lines, steps.flatMap(\.answers), "\(pacing)", lineEnd, location)
        }
    }

    private func compare(
        _ lines: [String], _ expected: [String], _ subject: String, _ lineEnd: String, _ location: SourceLocation
    ) {
        #expect(lines.count == expected.count, "\(subject): \(lines)", sourceLocation: location)
        for (line, pattern) in zip(lines, expected) {
            let fits = Self.fits(Self.withoutPrompts(line), pattern + (lineEnd == "\r\n" ? "\r" : ""))
            #expect(fits, "\(subject)\n  got      \(line)\n  expected \(pattern)", sourceLocation: location)
        }
    }

    private static func withoutPrompts(_ line: String) -> String {
        var line = line[...]
        while line.hasPrefix("> ") { line = line.dropFirst(2) }
        return String(line)
    }

    /// Whether a line matches a pattern, in which `…` matches any text.
    package static func fits(_ line: String, _ pattern: String) -> Bool {
        let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return line == pattern }
        guard line.hasPrefix(first) else { return false }
        var rest = line.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
