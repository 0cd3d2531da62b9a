// Defines etcd's errors, and maps those of its gateway to them.

import Tweaks

/// An error from etcd, or from the connection to it.
package enum EtcdError: Error, Hashable, Sendable {
    /// No endpoint replied; the text describes the last failure. The request may have been applied anyway, also after
    /// `.unavailable`, so a transaction with comparisons is not retried automatically.
    case unreachable(String)
    /// etcd cannot serve the request now: no leader, too many requests, a timeout. Worth a retry.
    case unavailable(String)
    /// The client must authenticate (again).
    case unauthenticated(String)
    /// The user has no permission.
    case forbidden(String)
    /// The store has reached its quota (`mvcc: database space exceeded`).
    case noSpace(String)
    /// The revision was compacted away; the oldest available one is given. 0 means that etcd did not report it, as for
    /// ranges.
    case compacted(Int64)
    /// The store has not reached this revision yet.
    case futureRevision(String)
    /// The lease does not exist.
    case leaseNotFound
    /// The request or reply exceeds a limit of etcd or of this client.
    case tooLarge(String)
    /// The request is invalid.
    case refused(String)
    /// The reply is not a valid etcd reply.
    case garbled(String)
    /// The requesting task was canceled.
    case cancelled

    /// Whether another member might succeed.
    var isWorthAnotherEndpoint: Bool {
        switch self {
        case .unreachable, .unavailable: true
        default: false
        }
    }

    /// Whether etcd may have applied the request anyway: a proposal that timed out can still be committed.
    var mayHaveTakenEffect: Bool {
        guard case .unavailable(let text) = self else { return false }
        return !text.contains("no leader") && !text.contains("too many requests")
    }

    /// Returns the error with a subject in front of its text.
    func prefixed(with subject: String) -> EtcdError {
        switch self {
        case .unreachable(let text): .unreachable("\(subject): \(text)")
        case .unavailable(let text): .unavailable("\(subject): \(text)")
        default: self
        }
    }
}

extension EtcdError: CustomStringConvertible {
    /// The problem and its remedy.
    package var description: String {
        switch self {
        case .unreachable(let text):
            "etcd cannot be reached: \(text); check etcd and the network, or use other endpoints"
        case .unavailable(let text): "etcd cannot answer now: \(text); try again"
        case .unauthenticated(let text): "etcd requires authentication: \(text); name a user and a password file"
        case .forbidden(let text): "etcd forbids it: \(text); grant the user a role for these keys"
        case .noSpace(let text): "etcd has no space: \(text); compact and defragment it, then disarm its alarm"
        case .compacted(0): "etcd has compacted the revision away; read anew"
        case .compacted(let revision): "etcd has compacted the revision away; read anew, from \(revision) on"
        case .futureRevision(let text): "etcd has not come to the revision: \(text); was an older state restored?"
        case .leaseNotFound: "etcd has no such lease: it has expired or was revoked; ask for a new one"
        case .tooLarge(let text): "it is too large: \(text)"
        case .refused(let text): "etcd refuses it: \(text)"
        case .garbled(let text): "the answer is not one of etcd's: \(text); does the URL name its client port?"
        case .cancelled: "it was canceled"
        }
    }
}

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
