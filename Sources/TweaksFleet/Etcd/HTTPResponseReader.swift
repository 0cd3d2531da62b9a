// Parses one HTTP/1.1 response from the bytes of a connection, split at any position.

import Tweaks

/// Parses the head, the body by its framing, and ignores the trailers. Never traps.
package struct HTTPResponseReader {
    private enum State {
        case head
        /// The number of bytes of the body, or of the chunk, that are still missing.
        case body(Int)
        case chunkSize
        case chunkEnd
        case trailers
        /// The body ends when the connection does.
        case rest
        case complete
    }

    /// The size limit of the head, and of the trailers.
    private static let limit = 65_536

    private var state = State.head
    private var line: [UInt8] = []
    private var headSize = 0
    private var head = HTTPResponseHead()
    /// Whether there were bytes after the end of the response.
    private var hasMore = false

    package init() {}

    /// Whether the response is complete.
    package var isComplete: Bool { if case .complete = state { true } else { false } }
    /// Whether the connection can be reused for another request.
    package var keepsConnection: Bool { isComplete && head.keepsConnection && !hasMore }

    /// Parses received bytes.
    /// - Returns: The status once it is known, and the bytes of the body.
    package mutating func append(_ bytes: ArraySlice<UInt8>) throws(EtcdError) -> [EtcdTransportPart] {
        var parts: [EtcdTransportPart] = []
        var rest = bytes
        while !rest.isEmpty {
            switch state {
            case .complete:
                hasMore = true
                return parts
            case .rest:
                parts.append(body: rest)
                rest = []
            case .body(let left):
                let part = rest.prefix(left)
                parts.append(body: part)
                rest = rest.dropFirst(part.count)
                state = head.isChunked ? .chunkEnd : .complete
                if part.count < left { state = .body(left - part.count) }
            case .head, .chunkSize, .chunkEnd, .trailers:
                guard let text = try nextLine(&rest) else { return parts }
                try parse(line: text, &parts)
            }
        }
        return parts
    }

    /// Reports that the connection has ended.
    package mutating func end() throws(EtcdError) {
        if case .rest = state { state = .complete }
        if !isComplete { throw .unreachable("the connection ended in the middle of an answer") }
    }

    // MARK: Parts

    /// Returns the next complete line; nil if its end has not arrived.
    private mutating func nextLine(_ rest: inout ArraySlice<UInt8>) throws(EtcdError) -> String? {
        let part = rest.prefix { $0 != UInt8(ascii: "\n") }
        headSize += part.count + 1
        guard headSize <= Self.limit else { throw .garbled("the beginning of an HTTP answer does not end") }
        line += part
        rest = rest.dropFirst(part.count)
        if rest.isEmpty { return nil }
        rest = rest.dropFirst()
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { line = [] }
        return String(decoding: line, as: UTF8.self)
    }

    private mutating func parse(line text: String, _ parts: inout [EtcdTransportPart]) throws(EtcdError) {
        switch state {
        case .head where !text.isEmpty: try head.parse(text)
        case .head:
            guard head.status >= 200 else {
                // An interim response, such as `100 Continue`.
                head = HTTPResponseHead()
                return
            }
            parts.append(.status(head.status))
            try begin()
        case .chunkSize: try beginChunk(text)
        case .chunkEnd:
            guard text.isEmpty else { throw .garbled("a chunk does not end where it should") }
            state = .chunkSize
        default: if text.isEmpty { state = .complete }
        }
    }

    private mutating func begin() throws(EtcdError) {
        headSize = 0
        if head.isChunked {
            state = .chunkSize
        } else if head.status == 204 || head.status == 304 || head.length == 0 {
            state = .complete
        } else {
            state = head.length.map(State.body) ?? .rest
        }
    }

    private mutating func beginChunk(_ text: String) throws(EtcdError) {
        headSize = 0
        let digits = text.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        guard digits.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }), let size = Int(digits, radix: 16)
        else { throw .garbled("a chunk without a size") }
        state = size == 0 ? .trailers : .body(size)
    }
}

extension [EtcdTransportPart] {
    /// Appends a part of the body to the previous one: chunks can be of one byte each.
    fileprivate mutating func append(body: ArraySlice<UInt8>) {
        guard case .bytes(var bytes)? = last else { return append(.bytes(Array<UInt8>(body))) }
        removeLast()
        bytes += body
        append(.bytes(bytes))
    }
}

/// The status line and the headers.
private struct HTTPResponseHead {
    var status = 0
    var length: Int?
    var isChunked = false
    private var isOld = false
    private var closes = false

    var keepsConnection: Bool { !isOld && !closes && (isChunked != (length != nil) || status == 204) }

    mutating func parse(_ line: String) throws(EtcdError) {
        if status == 0 { return try parse(statusLine: line) }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw .garbled("a header of HTTP without a colon") }
        let value = parts[1].trimmingBlanks.lowercased()
        switch parts[0].lowercased() {
        case "content-length":
            guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(value),
                length == nil || length == number
            else { throw .garbled("a length of HTTP that is not one") }
            length = number
        case "transfer-encoding":
            guard value == "chunked" else { throw .garbled("an encoding of HTTP that was not asked for") }
            isChunked = true
        case "connection": closes = closes || value.contains("close")
        default: break
        }
    }

    private mutating func parse(statusLine line: String) throws(EtcdError) {
        let words = line.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
            let number = UInt16(words[1]), number >= 100
        else { throw .garbled("it is not HTTP: \(Quoting.excerpt(line))") }
        status = Int(number)
        isOld = words[0] == "HTTP/1.0"
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        var text = self
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
