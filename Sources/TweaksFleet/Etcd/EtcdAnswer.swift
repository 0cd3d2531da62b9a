// Reads what etcd answers, in the shapes of 3.4 to 3.6: 64-bit numbers are texts, and fields that are zero are absent.

import Foundation
import Tweaks

/// Readers of answers: bytes in, a value or an error out.
package enum EtcdAnswer {
    static func json(_ bytes: [UInt8]) throws(EtcdError) -> JSON {
        let json: JSON
        do throws(JSONReader.Problem) {
            json = try JSON(bytes, most: 4_000_000)
        } catch {
            throw .garbled("the answer is not JSON: \(error)")
        }
        guard case .object = json else { throw .garbled("the answer is not an object") }
        return json
    }

    static func header(_ json: JSON) -> EtcdHeader {
        let header = json["header"]
        return EtcdHeader(
            clusterID: header?.number("cluster_id") ?? 0, revision: Int64(clamping: header?.number("revision") ?? 0))
    }

    package static func range(_ bytes: [UInt8]) throws(EtcdError) -> (result: EtcdRangeResult, hasMore: Bool) {
        let json = try json(bytes)
        return (try range(json), json["more"]?.isTrue ?? false)
    }

    private static func range(_ json: JSON) throws(EtcdError) -> EtcdRangeResult {
        var keys: [EtcdKeyValue] = []
        for pair in json["kvs"]?.elements ?? [] { keys.append(try self.pair(pair)) }
        return EtcdRangeResult(header: header(json), keys: keys, count: json.signed("count"))
    }

    static func pair(_ json: JSON?) throws(EtcdError) -> EtcdKeyValue {
        guard let json else { throw .garbled("an event has no key") }
        return EtcdKeyValue(
            key: try json.bytes("key"), value: try json.bytes("value"), createRevision: json.signed("create_revision"),
            modRevision: json.signed("mod_revision"), version: json.signed("version"), lease: json.signed("lease"))
    }

    package static func transaction(_ bytes: [UInt8]) throws(EtcdError) -> EtcdTransactionResult {
        let json = try json(bytes)
        var responses: [EtcdTransactionResult.Response] = []
        for response in json["responses"]?.elements ?? [] {
            if let range = response["response_range"] {
                responses.append(.range(try self.range(range)))
            } else if let deletion = response["response_delete_range"] {
                responses.append(.delete(count: deletion.signed("deleted")))
            } else if response["response_put"] != nil {
                responses.append(.put)
            } else {
                throw .garbled("a transaction's response is none that was asked for")
            }
        }
        return EtcdTransactionResult(
            header: header(json), succeeded: json["succeeded"]?.isTrue ?? false, responses: responses)
    }

    package static func lease(_ bytes: [UInt8]) throws(EtcdError) -> EtcdLease {
        let json = try json(bytes)
        let lease = EtcdLease(id: json.signed("ID"), seconds: json.signed("TTL"))
        guard lease.id != 0, lease.seconds > 0 else { throw .garbled("a lease has no ID or no time") }
        return lease
    }

    /// Nil where the lease is gone: its time is absent, or zero.
    package static func keptLease(_ bytes: [UInt8]) throws(EtcdError) -> EtcdLease? {
        // A stream of one message.
        let json = try json(bytes)
        if let error = json["error"] { throw error.etcdError }
        guard let result = json["result"] else { throw .garbled("a kept lease has no result") }
        let lease = EtcdLease(id: result.signed("ID"), seconds: result.signed("TTL"))
        return lease.seconds > 0 ? lease : nil
    }

    package static func status(_ bytes: [UInt8]) throws(EtcdError) -> EtcdStatus {
        let json = try json(bytes)
        return EtcdStatus(
            header: header(json), version: json["version"]?.string ?? "", leader: json.number("leader") ?? 0,
            size: json.signed("dbSize"))
    }

    package static func token(_ bytes: [UInt8]) throws(EtcdError) -> String {
        guard let token = try json(bytes)["token"]?.string, !token.isEmpty, token.utf8.count < 8_192,
            token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .garbled("the answer to a sign-in has no token") }
        return token
    }

    /// What an answer says is wrong. Judged by its code; by its status where that is missing.
    package static func error(status: Int, _ bytes: [UInt8]) -> EtcdError {
        if let json = try? json(bytes), let error = json.errorText {
            return EtcdError(code: json.errorCode ?? 0, error)
        }
        let text = String(decoding: bytes.prefix(200), as: UTF8.self)
        switch status {
        case 404:
            return .garbled("it does not serve etcd's v3 API over HTTP (404); is it a grpc-proxy, or another program?")
        case 401: return .unauthenticated("HTTP 401")
        case 403: return .forbidden("HTTP 403")
        case 500...599: return .unavailable("HTTP \(status) \(text)")
        default: return .garbled("HTTP \(status) \(Quoting.excerpt(text))")
        }
    }
}

extension EtcdError {
    /// By the code of gRPC (https://grpc.io/docs/guides/status-codes/), and what etcd says beside it.
    init(code: UInt64, _ text: String) {
        switch code {
        case 16: self = .unauthenticated(text)
        case _
        where text.contains("invalid auth token") || text.contains("auth store is old")
            || text.contains("revision of auth store is old"):
            self = .unauthenticated(text)
        case _ where text.contains("database space exceeded"): self = .noSpace(text)
        case _ where text.contains("has been compacted"): self = .compacted(0)
        case _ where text.contains("future revision"): self = .futureRevision(text)
        case _ where text.contains("lease not found"): self = .leaseNotFound
        case _ where text.contains("too large") || text.contains("too many operations"): self = .tooLarge(text)
        case 7: self = .forbidden(text)
        case 1, 4, 8, 13, 14: self = .unavailable(text)
        default: self = .refused(text)
        }
    }
}

extension EtcdError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreachable(let text): "etcd is not reached at \(text)"
        case .unavailable(let text): "etcd cannot answer now: \(text)"
        case .unauthenticated(let text): "etcd does not know who asks: \(text); check user and password file"
        case .forbidden(let text): "etcd forbids it: \(text); its roles say who may do what"
        case .noSpace(let text): "etcd is out of space: \(text); compact, defragment, and disarm its alarm"
        case .compacted(let revision): "etcd has compacted its history up to revision \(revision)"
        case .futureRevision(let text): "etcd is at an older revision: \(text)"
        case .leaseNotFound: "etcd has no such lease any more"
        case .tooLarge(let text): "it is too large for etcd: \(text)"
        case .refused(let text): "etcd refuses it: \(text)"
        case .garbled(let text): "what answers is not etcd as it should be: \(text)"
        case .cancelled: "it was cancelled"
        }
    }
}

extension JSON {
    /// A number of 64 bits, which is a text, or a number.
    func number(_ name: String) -> UInt64? {
        self[name].flatMap { $0.string.flatMap { UInt64($0) } ?? $0.wholeNumber }
    }

    func signed(_ name: String) -> Int64 {
        switch self[name] {
        case .string(let text)?, .literal(let text)?: Int64(text) ?? 0
        default: 0
        }
    }

    func bytes(_ name: String) throws(EtcdError) -> [UInt8] {
        guard let json = self[name] else { return [] }
        guard let data = json.string.flatMap({ Data(base64Encoded: $0) }) else {
            throw .garbled("“\(name)” is not base64")
        }
        return [UInt8](data)
    }

    /// `message`, and of an older etcd `error`, which in a stream is an object.
    fileprivate var errorText: String? {
        if case .object? = self["error"] { return self["error"]?.errorText }
        return self["message"]?.string ?? self["error"]?.string
    }

    fileprivate var errorCode: UInt64? {
        if case .object? = self["error"] { return self["error"]?.errorCode }
        return (self["code"] ?? self["grpc_code"])?.wholeNumber
    }

    var etcdError: EtcdError { EtcdError(code: errorCode ?? 0, errorText ?? "") }
}
