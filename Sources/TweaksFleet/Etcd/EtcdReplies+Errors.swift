// Maps errors of etcd and its gateway to ``EtcdError`` cases.

import Tweaks

extension EtcdReplies {
    /// Returns the reason of a failed call, from the gRPC code if there is one, otherwise from the HTTP status.
    /// - Parameter status: Any status but 200.
    package static func failure(status: Int, _ body: [UInt8]) -> EtcdError {
        // etcd 3.4 and 3.5 send `{"error","message","code"}`, 3.6 sends `{"code","message","details"}`.
        let json = try? JSON(body, maxValues: 1_000)
        if let code = json?["code"]?.wholeNumber {
            return failure(code: code, json?["message"]?.string ?? json?["error"]?.string ?? "no reason given")
        }
        // A stream that fails before its first message uses the same format as one that fails later.
        if let error = json?["error"], case .object = error { return failure(inStream: error) }
        let text = text(status, body)
        return switch status {
        case 401: .unauthenticated(text)
        case 403: .forbidden(text)
        case 404: .garbled("\(text): no etcd with its v3 API for JSON is there")
        case 413: .tooLarge("\(text); send less at once")
        case 408, 429, 500...: .unavailable(text)
        default: .garbled(text)
        }
    }

    /// Returns why a stream ended: `{"grpc_code","message","http_code"}`, since 3.6 `{"code","message"}`.
    static func failure(inStream error: JSON) -> EtcdError {
        let text = error["message"]?.string ?? error.string ?? "no reason given"
        guard let code = error["grpc_code"]?.wholeNumber ?? error["code"]?.wholeNumber else {
            return failure(reason: text)
        }
        return failure(code: code, text)
    }

    /// Returns why a watch was canceled: a text, prefixed with a code since 3.5.
    static func failure(reason: String) -> EtcdError {
        let text = shown(reason)
        if reason.contains("permission denied") { return .forbidden(text) }
        if isAboutAuthentication(reason) { return .unauthenticated(text) }
        return .unavailable(text)
    }

    /// The codes are gRPC codes; where one stands for several reasons, etcd's text distinguishes them.
    private static func failure(code: UInt64, _ message: String) -> EtcdError {
        let text = shown(message)
        if isAboutAuthentication(message) { return .unauthenticated(text) }
        switch code {
        case 3 where message.contains("request is too large") || message.contains("too many operations"):
            return .tooLarge("\(text); send less at once")
        case 5 where message.contains("requested lease not found"): return .leaseNotFound
        case 7: return .forbidden(text)
        case 8 where message.contains("database space exceeded"): return .noSpace(text)
        case 8 where message.contains("larger than max"): return .tooLarge("\(text); send less at once")
        // The reply does not contain the oldest available revision.
        case 11 where message.contains("compacted"): return .compacted(0)
        case 11 where message.contains("future revision"): return .futureRevision(text)
        case 16: return .unauthenticated(text)
        // Canceled, unknown, deadline exceeded, resource exhausted, aborted, internal, unavailable, data loss.
        case 1, 2, 4, 8, 10, 13, 14, 15: return .unavailable(text)
        default: return .refused(text)
        }
    }

    /// etcd reports some authentication errors with code 3, invalid argument.
    private static func isAboutAuthentication(_ message: String) -> Bool {
        [
            "invalid auth token", "revision of auth store is old", "auth store revision is old", "user name is empty",
            "authentication failed",
        ].contains { message.contains($0) }
    }

    static func isAuthenticationOff(_ error: EtcdError) -> Bool {
        if case .refused(let text) = error { text.contains("authentication is not enabled") } else { false }
    }

    private static func text(_ status: Int, _ body: [UInt8]) -> String {
        let text = String(decoding: body.prefix(300), as: UTF8.self).split(whereSeparator: \.isNewline).first ?? ""
        return text.isEmpty ? "HTTP \(status)" : "HTTP \(status): \(shown(String(text)))"
    }

    /// Shortens a server's text and makes it safe to print on a terminal.
    private static func shown(_ text: String) -> String {
        let short = String(decoding: text.utf8.prefix(300), as: UTF8.self)
        return Quoting.sanitized(short.hasPrefix("etcdserver: ") ? String(short.dropFirst(12)) : short)
    }
}
