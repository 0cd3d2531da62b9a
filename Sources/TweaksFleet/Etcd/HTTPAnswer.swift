// Reads one answer of HTTP/1.1 from bytes as they come: a status, a body by its length or in chunks, trailers.

/// An answer that is being read. What is none is a refusal, whatever the bytes are.
package struct HTTPAnswer: Sendable {
    /// Why bytes are no answer.
    package struct Problem: Error, Hashable, Sendable {
        package let text: String
    }

    private enum Stage: Equatable {
        /// Lines up to an empty one.
        case head
        case body(left: Int)
        /// The line with a chunk's size.
        case size
        case chunk(left: Int)
        /// The end of the line behind a chunk.
        case gap
        /// Lines behind the last chunk, up to an empty one.
        case trailers
        /// All that comes is body.
        case rest
        case done
    }

    private var stage = Stage.head
    private var line: [UInt8] = []
    private var lines: [String] = []
    private var headBytes = 0
    private static let mostHeadBytes = 65_536

    package init() {}

    /// Whether all of it has come.
    package var isComplete: Bool { stage == .done }

    /// Whether the end of the connection is the end of the answer.
    package var mayEnd: Bool { stage == .done || stage == .rest }

    /// Takes bytes.
    /// - Returns: What they hold of the answer.
    package mutating func take(_ bytes: [UInt8]) throws(Problem) -> [EtcdTransportPart] {
        var parts: [EtcdTransportPart] = []
        var rest = bytes[...]
        while !rest.isEmpty, stage != .done {
            switch stage {
            case .body(let left):
                rest = take(rest, left, &parts) { $0 == 0 ? .done : .body(left: $0) }
            case .chunk(let left):
                rest = take(rest, left, &parts) { $0 == 0 ? .gap : .chunk(left: $0) }
            case .rest:
                parts.append(.bytes(Array(rest)))
                rest = []
            case .head, .size, .gap, .trailers:
                if let text = try takeLine(&rest) { try take(line: text, &parts) }
            case .done: break
            }
        }
        return parts
    }

    private mutating func take(
        _ bytes: ArraySlice<UInt8>, _ left: Int, _ parts: inout [EtcdTransportPart], _ next: (Int) -> Stage
    ) -> ArraySlice<UInt8> {
        let taken = bytes.prefix(left)
        parts.append(.bytes(Array(taken)))
        stage = next(left - taken.count)
        return bytes.dropFirst(taken.count)
    }

    /// A whole line without its end; nil where more of it has to come.
    private mutating func takeLine(_ rest: inout ArraySlice<UInt8>) throws(Problem) -> String? {
        let part = rest.prefix { $0 != UInt8(ascii: "\n") }
        headBytes += part.count + 1
        if headBytes > Self.mostHeadBytes { throw Problem(text: "its head is longer than \(Self.mostHeadBytes) bytes") }
        line += part
        rest = rest.dropFirst(part.count)
        if rest.isEmpty { return nil }
        rest = rest.dropFirst()
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { line = [] }
        return String(decoding: line, as: UTF8.self)
    }

    private mutating func take(line text: String, _ parts: inout [EtcdTransportPart]) throws(Problem) {
        switch stage {
        case .head:
            if !text.isEmpty { return lines.append(text) }
            try endHead(&parts)
        case .size:
            // Sizes are not part of the head, however many there are.
            headBytes = 0
            let digits = text.prefix { $0 != ";" && $0 != " " }
            guard digits.utf8.count <= 8, let size = Int(digits, radix: 16), size >= 0 else {
                throw Problem(text: "the size of a chunk is none")
            }
            stage = size == 0 ? .trailers : .chunk(left: size)
        case .gap:
            guard text.isEmpty else { throw Problem(text: "a chunk is longer than its size") }
            stage = .size
        case .trailers: if text.isEmpty { stage = .done }
        case .body, .chunk, .rest, .done: break
        }
    }

    private mutating func endHead(_ parts: inout [EtcdTransportPart]) throws(Problem) {
        defer { (lines, headBytes) = ([], 0) }
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]), (100...599).contains(status)
        else { throw Problem(text: "it does not begin as HTTP/1.1 does") }
        // An answer of the kind “go on” comes before the one that is meant.
        if status < 200 { return }
        parts.append(.status(status))
        if status == 204 || status == 304 {
            stage = .done
        } else if field("transfer-encoding")?.lowercased().hasSuffix("chunked") ?? false {
            stage = .size
        } else if let length = field("content-length") {
            guard let length = Int(length), length >= 0 else { throw Problem(text: "its Content-Length is no number") }
            stage = length == 0 ? .done : .body(left: length)
        } else {
            stage = .rest
        }
    }

    private func field(_ name: String) -> String? {
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].lowercased() == name else { continue }
            return String(parts[1].drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " }.reversed())
        }
        return nil
    }
}
