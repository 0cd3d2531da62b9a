// Conversations written down, and their replay against a server.

package import Testing

/// What a client types, in lines that begin with `> `, and what the server answers, in all others.
///
/// A `…` in an answer stands for any text. Prompts of an interactive session are left out of the answers.
package struct Transcript: Sendable {
    /// One line of the client and what comes before its next one.
    package struct Step: Equatable, Sendable {
        package var typed: String
        package var answers: [String] = []
    }

    /// How a conversation is sent.
    package enum Manner: String, CaseIterable, Sendable {
        /// As a person does: each line after the answer to the one before.
        case inTurn
        /// In one packet, and then the end of input.
        case atOnce
        /// Byte by byte, and then the end of input.
        case dripped
    }

    package private(set) var steps: [Step] = []

    /// Reads a conversation.
    package init(_ text: String) {
        for line in text.splitLines() {
            if line.hasPrefix("> ") || line == ">" {
                steps.append(Step(typed: String(line.dropFirst(2))))
            } else if !steps.isEmpty {
                steps[steps.count - 1].answers.append(line)
            }
        }
    }

    /// Replays it and compares every line.
    /// - Parameter lineEnd: Sent behind each line, and expected behind each answer.
    package func replay(
        _ manner: Manner, with client: TestClient, lineEnd: String = "\n",
        at location: SourceLocation = #_sourceLocation
    ) throws {
        switch manner {
        case .inTurn:
            for step in steps {
                try client.send(step.typed + lineEnd)
                compare(try client.lines(step.answers.count), step.answers, "\(step.typed)", lineEnd, location)
            }
            client.endInput()
            let rest = try client.rest()
            #expect(Self.withoutPrompts(rest).isEmpty, "after the end: \(rest)", sourceLocation: location)
        case .atOnce, .dripped:
            let bytes = Array(steps.map { $0.typed + lineEnd }.joined().utf8)
            if manner == .atOnce { try client.send(bytes) } else { try client.drip(bytes) }
            client.endInput()
            var lines = try client.rest().splitLines()
            let last = lines.removeLast()
            #expect(Self.withoutPrompts(last).isEmpty, "unfinished: \(last)", sourceLocation: location)
            compare(lines, steps.flatMap(\.answers), "\(manner)", lineEnd, location)
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

    /// Whether a line is what was expected, `…` standing for any text.
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
