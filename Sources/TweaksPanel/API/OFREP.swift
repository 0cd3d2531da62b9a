// Speaks OFREP, the remote evaluation protocol of OpenFeature: checks its requests, and writes tweaks as flags.

import Tweaks
import TweaksWire

/// Flags are the tweaks with a value that the client may see; the key is the path. Nothing depends on the context.
enum OFREP {
    /// Whether a request is for one of its routes, which have errors of their own.
    static func isNamed(by request: HTTPRequest) -> Bool { request.path.first == "ofrep" }

    /// The key in the path of a request; nil if it is for all flags.
    static func key(of request: HTTPRequest) -> String? {
        let parts = request.path.dropFirst(4)
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }

    /// The error codes of the protocol that are used.
    private enum Code: String { case parse = "PARSE_ERROR", context = "INVALID_CONTEXT", unknown = "FLAG_NOT_FOUND" }

    private static let maxValues = 10_000

    // MARK: Requests

    /// Checks the body of a request.
    static func check(_ request: HTTPRequest) throws(HTTPFailure) {
        let body: JSON
        do throws(JSONReader.Problem) {
            body = try JSON(request.body, maxValues: maxValues)
        } catch {
            throw failure(.parse, "the body is not JSON: \(error); write an object, such as {\"context\":{}}")
        }
        guard case .object(let fields) = body else {
            throw failure(.parse, "the body must be a JSON object, such as {\"context\":{}}")
        }
        guard let context = fields.first(where: { $0.0 == "context" })?.1 else { return }
        guard case .object(let values) = context else {
            throw failure(.context, "context must be an object, such as {\"targetingKey\":\"user-1\"}")
        }
        if let key = values.first(where: { $0.0 == "targetingKey" })?.1, key.string == nil {
            throw failure(.context, "targetingKey must be a text in quotes")
        }
    }

    private static func failure(_ code: Code, _ message: String) -> HTTPFailure {
        HTTPFailure(.badRequest, code.rawValue, message)
    }

    // MARK: Flags

    /// A tweak as a flag; nil for a secret, an action, and an optional without a value.
    static func flag(_ line: TweakLine) -> JSON? {
        let definition = line.node.definition
        guard !definition.flags.contains(.secret), let value = line.value.flatMap(json) else { return nil }
        let layer = line.source?.layer ?? .default
        // The program publishes the value of a figure; it is no override.
        let isPublished = definition.flags.contains(.readOnly)
        let isSplit = layer == .fleet && line.source?.origin.rollout != nil
        return .object([
            ("key", .string(line.node.path.joined)), ("value", value),
            ("reason", .string(isSplit ? "SPLIT" : "STATIC")),
            ("variant", .string(isPublished ? "published" : layer.name)),
        ])
    }

    /// Containers are objects, since a flag is a boolean, a text, a number or an object.
    private static func json(_ value: TweakValue) -> JSON? {
        switch value {
        case .notSet: nil
        // With a point, also if it is whole: clients tell integers and numbers apart by it.
        case .number(let number): .literal(number.description)
        case .point(let point): .object([("x", .literal(point.x.description)), ("y", .literal(point.y.description))])
        case .list(let values): .object([("values", .array(values.map { json($0) ?? .null }))])
        default: value.json
        }
    }

    /// The flag with a key among tweaks that its pattern has matched.
    static func flag(_ key: String, in reply: Reply) -> JSON? {
        var position = 0
        while let item = reply.body.item(position) {
            if case .tweak(let line) = item, HTTPSyntax.isSame(line.node.path.joined, key) { return flag(line) }
            position += 1
        }
        return nil
    }

    /// All flags among tweaks, each followed by a comma, to be written in slices.
    static func flags(in listing: Reply) -> Reply {
        var reply = listing
        reply.body = .stream { position in
            guard let item = listing.body.item(position) else { return nil }
            var bytes: [UInt8] = []
            if case .tweak(let line) = item, let flag = flag(line) {
                flag.append(to: &bytes)
                bytes.append(UInt8(ascii: ","))
            }
            return .bytes(bytes)
        }
        return reply
    }

    // MARK: Responses

    private static let type = HTTPField("Content-Type", "application/json")

    static func response(_ flag: JSON) -> HTTPResponse {
        var body: [UInt8] = []
        flag.append(to: &body)
        return HTTPResponse(.ok, [type], body: body)
    }

    /// The response with all flags, written and hashed in slices.
    struct Flags {
        /// The body so far; a comma follows each flag.
        var bytes = Array("{\"flags\":[".utf8)
        // Of the values, not of the revision: figures change without one, and most commits concern others.
        private var hash = ContentHash()
        private var hashed = 0

        /// Hashes what was appended.
        mutating func note() {
            hash.add(bytes[hashed...])
            hashed = bytes.count
        }

        /// Ends the response; it has no flags if the client has the same.
        /// - Parameter known: The header If-None-Match.
        consuming func response(unless known: String?) -> HTTPResponse {
            let tag = "\"" + hash.text + "\""
            let tags = known.map(HTTPSyntax.list) ?? []
            let isKnown = tags.contains(tag) || tags.contains("w/" + tag)
            if isKnown { return HTTPResponse(.notModified, [HTTPField("ETag", tag)]) }
            if bytes.last == UInt8(ascii: ",") { bytes.removeLast() }
            bytes += "]}".utf8
            return HTTPResponse(.ok, [type, HTTPField("ETag", tag)], body: bytes)
        }
    }

    /// A refused request as the protocol writes it.
    static func response(_ failure: HTTPFailure, key: String?) -> HTTPResponse {
        var failure = failure
        if Code(rawValue: failure.code) == nil { failure.code = "GENERAL" }
        var body: [UInt8] = []
        JSON.object(
            (key.map { [("key", .string($0))] } ?? []) + [
                ("errorCode", .string(failure.code)), ("errorDetails", .string(failure.message)),
            ]
        ).append(to: &body)
        if failure.status == .tooManyRequests { failure.headers.append(HTTPField("Retry-After", "1")) }
        return HTTPResponse(failure.status, [type] + failure.headers, body: body)
    }

    /// An error of the server as the protocol writes it. A key that is no path, or a pattern, is that of no flag.
    static func response(_ error: TweakError, key: String?) -> HTTPResponse {
        guard let key, [.unknownTweak, .ambiguous, .usage].contains(error.code) else {
            return response(HTTPFailure(error), key: key)
        }
        return unknown(key, error.message)
    }

    /// The failure for a key without a flag.
    static func unknown(_ key: String, _ message: String) -> HTTPResponse {
        response(HTTPFailure(.notFound, Code.unknown.rawValue, message), key: key)
    }
}
