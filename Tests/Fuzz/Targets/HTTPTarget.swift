// Fuzzes HTTP requests: independent of chunks, unchanged by a round trip, and never ambiguous.

import TweaksPanel

/// The parser and the access checks. The first byte selects the chunk sizes and the limits.
enum HTTPTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let stream = Array(bytes.dropFirst())
        let limits = choice & 1 == 0 ? HTTPLimits() : narrow
        let whole = HTTPFraming(stream, limits: limits)
        for sizes in chunkSizes(choice) {
            let pieces = HTTPFraming(stream, limits: limits, sizes: sizes)
            try expect(whole == pieces, "in chunks of \(sizes): \(pieces), and whole: \(whole)")
        }
        try check(whole, of: stream, limits)
        for request in whole.requests {
            try checkFraming(request, limits)
            try checkWriting(request)
            try checkAccess(request)
        }
    }

    private static let narrow: HTTPLimits = {
        var limits = HTTPLimits()
        (limits.requestLine, limits.headerLine, limits.headers, limits.headerCount) = (64, 48, 160, 6)
        limits.body = 16
        return limits
    }()

    /// No event follows a failure, and no more bytes come out than went in.
    private static func check(_ whole: HTTPFraming, of stream: [UInt8], _ limits: HTTPLimits) throws(Finding) {
        let failures = whole.events.indices.filter { if case .failure = whole.events[$0] { true } else { false } }
        try expect(failures.isEmpty || failures == [whole.events.count - 1], "events behind a failure: \(whole.events)")
        try expect(whole.count <= stream.count, "\(whole.count) bytes wait of \(stream.count)")
        try expect(failures.isEmpty || whole.count == 0, "bytes wait behind a failure")
        let bodies = whole.requests.map(\.body.count).reduce(0, +)
        try expect(bodies + whole.count <= stream.count, "bodies of \(bodies) bytes, of \(stream.count)")
    }

    // MARK: Requests

    /// The rules of framing, checked independently of the parser.
    private static func checkFraming(_ request: HTTPRequest, _ limits: HTTPLimits) throws(Finding) {
        let names = request.headers.map(\.name)
        try expect(!names.contains("transfer-encoding"), "an encoding was accepted: \(request)")
        let hosts = names.filter { $0 == "host" }.count
        try expect(hosts == 1 || hosts == 0 && request.version == .http10, "\(hosts) hosts")
        try expect(names.filter { $0 == "content-length" }.count <= 1, "two lengths: \(request)")
        let length = request[header: "content-length"] ?? "0"
        try expect(Int(length) == request.body.count, "length \(length), and \(request.body.count) bytes")
        try expect(request.body.count <= limits.body, "a body of \(request.body.count) bytes")
        try expect(names.count <= limits.headerCount, "\(names.count) headers")
        for part in request.path {
            try expect(!["", ".", ".."].contains(part), "a path with \(part)")
        }
        let texts = request.path + request.query.flatMap { [$0.name, $0.value] } + request.headers.map(\.value)
        for text in texts {
            try expect(!text.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F }, "a control character: \(request)")
        }
    }

    /// A request that is written and parsed again is the same one.
    private static func checkWriting(_ request: HTTPRequest) throws(Finding) {
        var limits = HTTPLimits()
        // Encoded or repaired text is longer than the input.
        (limits.requestLine, limits.headerLine, limits.headers) = (100_000, 100_000, 100_000)
        let bytes = written(request)
        let again = HTTPFraming(bytes, limits: limits)
        try expect(again.requests == [request], "\(request), written and read: \(again)")
        try expect(again.count == 0, "\(again.count) bytes are left of \(String(decoding: bytes, as: UTF8.self))")
    }

    private static func written(_ request: HTTPRequest) -> [UInt8] {
        let query = request.query.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
        let target = "/" + request.path.map(encoded).joined(separator: "/") + (query.isEmpty ? "" : "?\(query)")
        var text = "\(request.method) \(target) HTTP/\(request.version == .http10 ? "1.0" : "1.1")\r\n"
        for header in request.headers { text += "\(header.name): \(header.value)\r\n" }
        return Array("\(text)\r\n".utf8) + request.body
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "%0\(digits)" : "%\(digits)"
        }.joined()
    }

    // MARK: Access

    private static let accessCheck = HTTPGuard(port: 7780, names: ["panel.example"]) { pageID }
    private static let pageID = String(repeating: "a", count: PanelID.count)
    private static let ours = ["localhost:7780", "127.0.0.1:7780", "[::1]:7780", "panel.example:7780"]
    private static let suffix = ".localhost:7780"

    private static func checkAccess(_ request: HTTPRequest) throws(Finding) {
        if let credential = HTTPCredential(request, port: 7780) {
            let hasHeader = request.headers.contains { $0.name == "authorization" }
            if case .page(let id, let key) = credential {
                try expect(
                    !hasHeader && !id.isEmpty && !key.isEmpty, "a page with a header, or without a key: \(credential)")
            } else {
                try expect(hasHeader, "a token without a header: \(credential)")
            }
        }
        if accessCheck.failure(of: request) != nil { return }
        let host = request[header: "host"] ?? ""
        let id = host.lowercased().hasSuffix(suffix) ? String(host.lowercased().dropLast(suffix.utf8.count)) : ""
        try expect(ours.contains(host.lowercased()) || PanelID.isWellFormed(id), "the host \(host) is not ours")
        for header in request.headers where header.name == "origin" {
            try expect(!ours.prefix(3).contains(host.lowercased()), "a page at \(host) was accepted")
            // Browsers write origins in lower case.
            try expect("http://\(host.lowercased())" == header.value.lowercased(), "\(header.value) is not \(host)")
        }
        try expect(!request.headers.contains { $0.name == "upgrade" }, "an upgrade was accepted")
    }
}

/// The events that the parser returns for a byte stream, in chunks of any size.
struct HTTPFraming: Equatable {
    private(set) var events: [HTTPEvent] = []
    private(set) var count = 0
    private(set) var hasBegun = false

    /// - Parameter sizes: As of ``chunks(of:sizes:)``.
    init(_ stream: [UInt8], limits: HTTPLimits, sizes: [Int] = []) {
        var parser = HTTPParser(limits: limits)
        for chunk in chunks(of: stream, sizes: sizes) {
            parser.append(chunk)
            while let event = parser.next() { events.append(event) }
        }
        (count, hasBegun) = (parser.count, parser.hasBegun)
    }

    var requests: [HTTPRequest] {
        events.compactMap { if case .request(let request) = $0 { request } else { nil } }
    }
}
