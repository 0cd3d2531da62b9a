// Fuzzes the codec: bytes to lines, lines to requests, and both back to bytes.

import Tweaks
import TweaksWire

/// The codec without a server. The first byte selects the chunk sizes and the limit of a line.
enum CodecTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let stream = Array(bytes.dropFirst())
        let limit = choice & 1 == 0 ? 65_536 : 24
        let whole = Framing(stream, limit: limit)
        for sizes in chunkSizes(choice) {
            let pieces = Framing(stream, limit: limit, sizes: sizes)
            try expect(whole.agrees(with: pieces), "in chunks of \(sizes): \(pieces), and whole: \(whole)")
        }
        for line in whole.lines where !line.isPoisoned { try check(line.bytes) }
    }

    // MARK: Lines

    private static func check(_ line: [UInt8]) throws(Finding) {
        let parsed = parse(line)
        try checkFastPath(line, parsed)
        try checkTokens(line)
        switch parsed {
        case .blank, .ignored: break
        case .failure(let error, _): try checkReply(error)
        case .correctable(let correction): try checkReply(correction.error(.session(showsValue: true, isText: true)))
        case .request(let request):
            _ = request.permission
            if case .assign(let text) = request.change { try checkAssignment(request.word, text) }
        }
    }

    private static func parse(_ line: [UInt8]) -> ParsedLine { line.withUnsafeBufferPointer { ParsedLine($0) } }

    /// The fast path parses the same request as the general parser.
    private static func checkFastPath(_ line: [UInt8], _ parsed: ParsedLine) throws(Finding) {
        guard let parts = line.withUnsafeBufferPointer({ FastPath($0) }) else { return }
        let request: Request
        switch parts {
        case .get(let path): request = Request(.get, [text(line[path])])
        case .set(let path, let value): request = Request(.set, [text(line[path])], change: .assign(text(line[value])))
        }
        try expect(parsed == .request(request), "the fast path parses \(request), the parser \(parsed)")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Quoted tokens are parsed as the same tokens.
    private static func checkTokens(_ line: [UInt8]) throws(Finding) {
        guard let tokens = tokens(line) else { return }
        let again = self.tokens(Array(tokens.map { Quoting.json($0.text) }.joined(separator: " ").utf8))
        try expect(again?.map(\.text) == tokens.map(\.text), "\(tokens) written and read: \(again ?? [])")
    }

    private static func tokens(_ line: [UInt8]) -> [Token]? {
        line.withUnsafeBufferPointer { try? Tokenizer.tokens($0) }
    }

    // MARK: Assignments

    private static let samples = Samples()

    /// A printed value is parsed as the same value.
    private static func checkAssignment(_ path: String, _ text: String) throws(Finding) {
        let line = "\(Quoting.json(path)) = \(Quoting.json(text))"
        try expect(
            parse(Array(line.utf8)) == .request(Request(.set, [path], change: .assign(text))),
            "\(line) is another request")
        for node in samples.nodes {
            guard let value = try? node.read(text, from: .typed) else { continue }
            var bytes: [UInt8] = []
            TweakLine(node, value, .was(value, .none)).append(to: &bytes)
            guard case .request(let request) = parse(bytes), case .assign(let printed) = request.change else {
                throw Finding("\(self.text(bytes[...])) is not an assignment")
            }
            try expect(request.word == node.path.joined, "\(request.word) is another path")
            let again = try? node.read(printed, from: .file)
            try expect(again == value, "\(value) printed and read: \(again.map { "\($0)" } ?? printed)")
        }
    }

    /// An error is one line of printable text, even if it quotes input.
    private static func checkReply(_ error: TweakError) throws(Finding) {
        for isJSON in [false, true] {
            var encoder = ReplyEncoder()
            encoder.isJSON = isJSON
            var bytes: [UInt8] = []
            let rest = encoder.append(.error(error), to: &bytes)
            try expect(rest == nil && bytes.last == UInt8(ascii: "\n"), "an error that does not end")
            let line = String(decoding: bytes.dropLast(), as: UTF8.self)
            try expect(!line.unicodeScalars.contains(where: Quoting.isUnsafe), "an unsafe character in \(line)")
            try expect(line.hasPrefix(isJSON ? "{\"ok\":false" : "error \(error.code.rawValue) "), "\(line)")
        }
    }
}
