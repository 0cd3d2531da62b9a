// Parses etcd's replies to calls: ranges, transactions, leases, status and tokens. Malformed input never traps.

import Tweaks

/// The replies of etcd's JSON gateway, versions 3.4 to 3.6. It omits fields that are zero, false or empty.
package enum EtcdReplies {
    /// One page of a range.
    package struct Page: Hashable, Sendable {
        package var result: EtcdRangeResult
        /// The range continues after the last key.
        package var hasMore: Bool
    }

    /// Parses the reply to `kv/range`.
    package static func page(_ bytes: [UInt8]) throws(EtcdError) -> Page {
        let reply = try object(bytes)
        return Page(result: try range(reply, try header(reply)), hasMore: try reply.etcdFlag("more"))
    }

    /// Parses the reply to `kv/txn`.
    package static func transaction(_ bytes: [UInt8]) throws(EtcdError) -> EtcdTransactionResult {
        let reply = try object(bytes)
        let header = try header(reply)
        var responses: [EtcdTransactionResult.Response] = []
        for element in try reply.etcdElements("responses") {
            responses.append(try response(element, header))
        }
        return EtcdTransactionResult(
            header: header, succeeded: try reply.etcdFlag("succeeded"), responses: responses)
    }

    /// Parses the reply to `kv/deleterange` as that of a transaction with this one operation.
    package static func deletion(_ bytes: [UInt8]) throws(EtcdError) -> EtcdTransactionResult {
        let reply = try object(bytes)
        return EtcdTransactionResult(
            header: try header(reply), succeeded: true, responses: [.delete(count: try reply.etcdInt64("deleted"))])
    }

    /// Parses the reply to `lease/grant`.
    package static func lease(_ bytes: [UInt8]) throws(EtcdError) -> EtcdLease {
        let reply = try object(bytes)
        let lease = EtcdLease(id: try reply.etcdInt64("ID"), seconds: try reply.etcdInt64("TTL"))
        guard lease.id != 0, lease.seconds > 0 else { throw garbled("a lease has no ID or no TTL") }
        return lease
    }

    /// Parses the reply to `lease/keepalive`: one message of a stream. Returns nil without a TTL: the lease is gone.
    package static func keptAlive(_ bytes: [UInt8]) throws(EtcdError) -> EtcdLease? {
        let result = try result(of: try firstObject(bytes))
        let lease = EtcdLease(id: try result.etcdInt64("ID"), seconds: try result.etcdInt64("TTL"))
        return lease.seconds > 0 ? lease : nil
    }

    /// Parses the reply to `maintenance/status`.
    package static func status(_ bytes: [UInt8]) throws(EtcdError) -> EtcdStatus {
        let reply = try object(bytes)
        let size = try reply.etcdInt64("dbSize")
        if size < 0 { throw garbled("“dbSize” is not a size") }
        return EtcdStatus(
            header: try header(reply), version: reply["version"]?.string ?? "",
            leader: try reply.etcdUInt64("leader"), size: size)
    }

    /// Parses the reply to `auth/authenticate`.
    package static func token(_ bytes: [UInt8]) throws(EtcdError) -> String {
        guard let token = try object(bytes)["token"]?.string, !token.isEmpty else { throw garbled("no token in it") }
        // The token is sent as a header value.
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw garbled("a token is not plain text") }
        return token
    }
}

// MARK: - Parts of answers

extension EtcdReplies {
    static func header(_ reply: JSON) throws(EtcdError) -> EtcdHeader {
        let header = reply["header"] ?? .object([])
        return EtcdHeader(
            clusterID: try header.etcdUInt64("cluster_id"), revision: try header.etcdRevision("revision"))
    }

    static func pair(_ json: JSON) throws(EtcdError) -> EtcdKeyValue {
        let pair = EtcdKeyValue(
            key: try json.etcdBytes("key"), value: try json.etcdBytes("value"),
            createRevision: try json.etcdRevision("create_revision"),
            modRevision: try json.etcdRevision("mod_revision"),
            version: try json.etcdInt64("version"), lease: try json.etcdInt64("lease"))
        if pair.key.isEmpty { throw garbled("a pair has no key") }
        return pair
    }

    private static func range(_ reply: JSON, _ header: EtcdHeader) throws(EtcdError) -> EtcdRangeResult {
        var keys: [EtcdKeyValue] = []
        for element in try reply.etcdElements("kvs") { keys.append(try pair(element)) }
        return EtcdRangeResult(header: header, keys: keys, count: try reply.etcdInt64("count"))
    }

    /// Parses one response of a transaction. Its own header has fewer fields than the transaction's.
    private static func response(
        _ json: JSON, _ header: EtcdHeader
    ) throws(EtcdError) -> EtcdTransactionResult.Response {
        if json["response_put"] != nil { return .put }
        if let reply = json["response_delete_range"] { return .delete(count: try reply.etcdInt64("deleted")) }
        if let reply = json["response_range"] { return .range(try range(reply, header)) }
        throw garbled("a response of an unknown kind")
    }

    /// Returns the content of a stream message, `{"result":…}`; throws if it is an error.
    static func result(of message: JSON) throws(EtcdError) -> JSON {
        if let error = message["error"] { throw failure(inStream: error) }
        guard let result = message["result"], case .object = result else { throw garbled("a message without a result") }
        return result
    }

    /// The maximum number of JSON values in an answer: a value of two bytes takes ten times as many in memory. A page
    /// has some nine values for each of its keys.
    static let maxValues = 100_000
    /// For answers that are too large, which those to a fleet's requests are not.
    static let remedy = "delete the keys below the prefix that do not belong there"

    static func object(_ bytes: [UInt8]) throws(EtcdError) -> JSON {
        let json: JSON
        do throws(JSONReader.Problem) {
            json = try JSON(bytes, maxValues: maxValues)
        } catch {
            if error.isTooLarge { throw .tooLarge("an answer of more than \(maxValues) JSON values; \(remedy)") }
            throw garbled("\(error)")
        }
        guard case .object = json else { throw garbled("it is not an object") }
        return json
    }

    private static func firstObject(_ bytes: [UInt8]) throws(EtcdError) -> JSON {
        var splitter = JSONSplitter(limit: 1 << 20)
        guard let first = try splitter.append(bytes).first else { throw garbled("it ends too early") }
        return try object(first)
    }

    static func garbled(_ reason: String) -> EtcdError { .garbled(reason) }
}

// MARK: - Fields

extension JSON {
    private func whole<Number: FixedWidthInteger>(_ name: String) throws(EtcdError) -> Number {
        switch self[name] {
        case nil, .null?: return 0
        case .string(let text)?, .literal(let text)?:
            if let number = Number(text) { return number }
        default: break
        }
        throw EtcdReplies.garbled("“\(name)” is not a whole number of \(Number.bitWidth) bits")
    }

    /// Reads a 64-bit number, encoded as a string or as a number.
    func etcdInt64(_ name: String) throws(EtcdError) -> Int64 { try whole(name) }

    /// Reads a revision; rejects the largest number, so that incrementing never overflows.
    func etcdRevision(_ name: String) throws(EtcdError) -> Int64 {
        let revision = try etcdInt64(name)
        guard (0..<Int64.max).contains(revision) else { throw EtcdReplies.garbled("“\(name)” is not a revision") }
        return revision
    }

    func etcdUInt64(_ name: String) throws(EtcdError) -> UInt64 { try whole(name) }

    /// Reads bytes encoded in base64.
    func etcdBytes(_ name: String) throws(EtcdError) -> [UInt8] {
        guard let field = self[name], field != .null else { return [] }
        guard let text = field.string, let bytes = EtcdBase64.decode(text) else {
            throw EtcdReplies.garbled("“\(name)” is not base64")
        }
        return bytes
    }

    func etcdFlag(_ name: String) throws(EtcdError) -> Bool {
        switch self[name] {
        case nil, .null?: return false
        case .bool(let value)?: return value
        default: throw EtcdReplies.garbled("“\(name)” is neither true nor false")
        }
    }

    func etcdElements(_ name: String) throws(EtcdError) -> [JSON] {
        switch self[name] {
        case nil, .null?: return []
        case .array(let elements)?: return elements
        default: throw EtcdReplies.garbled("“\(name)” is not a list")
        }
    }
}
