// Turns a request of a program's own router into one that the panel performs, without any text in between.

/// The request of a session that a program's router has opened.
struct MountedRequest: Sendable {
    /// Nil once it has begun.
    var request: HTTPRequest?
    /// Tells callers apart; contains no secret.
    let caller: [UInt8]

    /// Follows a body of unknown length, as its session can also end before that. No text contains this byte.
    static let endOfBody: UInt8 = 0xFF
}

extension HTTPRequest {
    /// The part of a request below the path of the panel.
    /// - Parameter target: The target after that path; it begins with a slash.
    init(_ request: TweakPanelRequest, target: ArraySlice<UInt8>) throws(HTTPFailure) {
        let limits = HTTPLimits()
        guard HTTPSyntax.isToken(request.method.utf8) else {
            throw HTTPFailure(.badRequest, "bad-line", "the method is not a word; write one such as GET")
        }
        self.init(method: request.method, path: [])
        // The session has this request alone, and its end is the end of the body: the router frames both for its client.
        (keepsAlive, version) = (false, .http10)
        (path, query) = try Self.parts(of: target, limits)
        headers = try Self.fields(request.headers, limits)
        if request.body.count > limits.body {
            throw HTTPFailure(
                .contentTooLarge, "too-long", "the body has \(request.body.count) bytes; send at most \(limits.body)")
        }
        body = request.body
        headers.append(HTTPField("content-length", "\(body.count)"))
    }

    private static func parts(
        of target: ArraySlice<UInt8>, _ limits: HTTPLimits
    ) throws(HTTPFailure) -> (path: [String], query: [HTTPField]) {
        if target.count > limits.requestLine {
            throw HTTPFailure(
                .uriTooLong, "too-long", "the target has more than \(limits.requestLine) bytes; write a shorter one")
        }
        return try HTTPHead.parts(of: target)
    }

    /// Headers that concern the router and its client, or credentials that are the site's.
    private static let routers = [
        "authorization", "connection", "content-length", "cookie", "expect", "host", "transfer-encoding", "upgrade",
    ]

    private static func fields(
        _ headers: [(name: String, value: String)], _ limits: HTTPLimits
    ) throws(HTTPFailure) -> [HTTPField] {
        var bytes = 0
        var fields: [HTTPField] = []
        for (name, value) in headers {
            guard HTTPSyntax.isToken(name.utf8), !value.utf8.contains(where: isForbidden) else {
                throw HTTPFailure(
                    .badRequest, "bad-line", "a header has a character that is not allowed there; leave it out")
            }
            let name = HTTPSyntax.lowercased(name)
            if routers.contains(name) { continue }
            bytes += name.utf8.count + value.utf8.count + 4
            fields.append(HTTPField(name, String(decoding: HTTPSyntax.trimmed(Array(value.utf8)[...]), as: UTF8.self)))
        }
        if bytes > limits.headers || fields.count > limits.headerCount {
            throw HTTPFailure(
                .headersTooLarge, "too-long",
                "there are more than \(limits.headerCount) headers, or \(limits.headers) bytes of them; send fewer")
        }
        return fields
    }

    private static func isForbidden(_ byte: UInt8) -> Bool { HTTPSyntax.isControl(byte) && byte != HTTPSyntax.tab }
}

/// Where in a router the panel is, and which origins its site has.
struct Mount: Sendable {
    /// The bytes of the path, without a slash at the end.
    private let path: [UInt8]
    /// As browsers write them.
    let origins: [String]
    /// What is wrong with the arguments of the program; nil if nothing is.
    let problem: String?

    init(below path: String, origins: [String]) {
        var bytes = Array(path.utf8)[...]
        while bytes.last == Self.slash { bytes.removeLast() }
        self.path = Array(bytes)
        let known = origins.map { ($0, Self.normalized($0)) }
        self.origins = known.compactMap(\.1)
        let strange = known.first { $0.1 == nil }?.0
        problem =
            Self.isPath(bytes)
            ? strange.map { "origins: \($0) is not an origin; write scheme and host, such as https://ops.example.org" }
            : "below: \(path) is not a path; write plain parts, each after a slash, such as /tweaks"
    }

    private static let slash = UInt8(ascii: "/")

    /// Whether the bytes are none, or parts that no router and no proxy changes.
    private static func isPath(_ bytes: ArraySlice<UInt8>) -> Bool {
        if bytes.isEmpty { return true }
        let parts = bytes.dropFirst().split(separator: slash, omittingEmptySubsequences: false)
        return bytes.first == slash
            && parts.allSatisfy { part in
                // Neither empty nor one that leads elsewhere.
                (part.count > 2 || part.contains { $0 != UInt8(ascii: ".") })
                    && part.allSatisfy { HTTPSyntax.isAlphanumeric($0) || "-._~".utf8.contains($0) }
            }
    }

    /// An origin as browsers write it: in lower case, without the default port of its scheme.
    private static func normalized(_ text: String) -> String? {
        let text = HTTPSyntax.lowercased(text)
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        var bytes = Array(text.utf8)
        if bytes.last == slash { bytes.removeLast() }
        let port = Array((isSecure ? ":443" : ":80").utf8)
        if Array(bytes.suffix(port.count)) == port { bytes.removeLast(port.count) }
        let host = bytes.dropFirst(isSecure ? 8 : 7)
        guard !host.isEmpty, host.allSatisfy({ HTTPSyntax.isAlphanumeric($0) || "-.:[]".utf8.contains($0) }) else {
            return nil
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The part of a target that the panel answers.
    enum Place: Equatable {
        /// The target below the path, from its slash on.
        case inside(ArraySlice<UInt8>)
        /// The path itself, without its slash: what it is called there, relative to the target.
        case edge(location: String)
    }

    /// - Throws: 400 for a target that no client may send, and 404 for one elsewhere.
    func place(of target: String) throws(HTTPFailure) -> Place {
        let bytes = Array(target.utf8)
        // All that a request line may contain.
        if bytes.contains(where: { !(0x21...0x7E).contains($0) }) {
            throw HTTPFailure(
                .badRequest, "bad-line", "the target has a byte that is not allowed there; percent-encode it")
        }
        guard Array(bytes.prefix(path.count)) == path, case let rest = bytes.dropFirst(path.count),
            rest.first == Self.slash || !path.isEmpty && (rest.isEmpty || rest.first == UInt8(ascii: "?"))
        else {
            throw HTTPFailure(
                .notFound, "unknown-command",
                "the panel is below \(String(decoding: path, as: UTF8.self))/, and this is another path")
        }
        if rest.first == Self.slash { return .inside(rest) }
        // Relative, so that it is right behind a proxy that has removed a part of the path.
        let name = path.lastIndex(of: Self.slash).map { path[($0 + 1)...] } ?? []
        return .edge(location: String(decoding: name + [Self.slash] + rest, as: UTF8.self))
    }
}
