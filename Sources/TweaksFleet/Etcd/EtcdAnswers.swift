// Parses etcd's answers to calls: ranges, transactions, leases, status and tokens. Bytes in, values out, and no trap.

import Tweaks

/// The answers of etcd's JSON gateway, 3.4 to 3.6. A field that is zero, false or empty is absent.
package enum EtcdAnswers {
    /// One page of a range.
    package struct Page: Hashable, Sendable {
        package var result: EtcdRangeResult
        /// The range goes on behind the last key.
        package var more: Bool
    }

    /// The answer to `kv/range`.
    package static func page(_ bytes: [UInt8]) throws(EtcdError) -> Page {
        let answer = try object(bytes)
        return Page(result: try range(answer, try header(answer)), more: try answer.etcdFlag("more"))
    }

    /// The answer to `kv/txn`.
    package static func transaction(_ bytes: [UInt8]) throws(EtcdError) -> EtcdTransactionResult {
        let answer = try object(bytes)
        let header = try header(answer)
        var responses: [EtcdTransactionResult.Response] = []
        for element in try answer.etcdElements("responses") {
            responses.append(try response(element, header))
        }
        return EtcdTransactionResult(
            header: header, succeeded: try answer.etcdFlag("succeeded"), responses: responses)
    }

    /// The answer to `kv/deleterange`, as that of a transaction that did nothing else.
    package static func deletion(_ bytes: [UInt8]) throws(EtcdError) -> EtcdTransactionResult {
        let answer = try object(bytes)
        return EtcdTransactionResult(
            header: try header(answer), succeeded: true, responses: [.delete(count: try answer.etcdInt64("deleted"))])
    }

    /// The answer to `lease/grant`.
    package static func lease(_ bytes: [UInt8]) throws(EtcdError) -> EtcdLease {
        let answer = try object(bytes)
        let lease = EtcdLease(id: try answer.etcdInt64("ID"), seconds: try answer.etcdInt64("TTL"))
        guard lease.id != 0, lease.seconds > 0 else { throw garbled("a lease has no ID or no TTL") }
        return lease
    }

    /// The answer to `lease/keepalive`: one message of a stream. Without a TTL the lease is gone, and this nil.
    package static func keptAlive(_ bytes: [UInt8]) throws(EtcdError) -> EtcdLease? {
        let result = try result(of: try firstObject(bytes))
        let lease = EtcdLease(id: try result.etcdInt64("ID"), seconds: try result.etcdInt64("TTL"))
        return lease.seconds > 0 ? lease : nil
    }

    /// The answer to `maintenance/status`.
    package static func status(_ bytes: [UInt8]) throws(EtcdError) -> EtcdStatus {
        let answer = try object(bytes)
        return EtcdStatus(
            header: try header(answer), version: answer["version"]?.string ?? "",
            leader: try answer.etcdUInt64("leader"), size: try answer.etcdInt64("dbSize"))
    }

    /// The answer to `auth/authenticate`.
    package static func token(_ bytes: [UInt8]) throws(EtcdError) -> String {
        guard let token = try object(bytes)["token"]?.string, !token.isEmpty else { throw garbled("no token in it") }
        // It becomes a header.
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw garbled("a token is not plain text") }
        return token
    }
}

// MARK: - Parts of answers

extension EtcdAnswers {
    static func header(_ answer: JSON) throws(EtcdError) -> EtcdHeader {
        let header = answer["header"] ?? .object([])
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

    private static func range(_ answer: JSON, _ header: EtcdHeader) throws(EtcdError) -> EtcdRangeResult {
        var keys: [EtcdKeyValue] = []
        for element in try answer.etcdElements("kvs") { keys.append(try pair(element)) }
        return EtcdRangeResult(header: header, keys: keys, count: try answer.etcdInt64("count"))
    }

    /// One response of a transaction. It has a header of its own, which knows less than that of the whole.
    private static func response(
        _ json: JSON, _ header: EtcdHeader
    ) throws(EtcdError) -> EtcdTransactionResult.Response {
        if json["response_put"] != nil { return .put }
        if let answer = json["response_delete_range"] { return .delete(count: try answer.etcdInt64("deleted")) }
        if let answer = json["response_range"] { return .range(try range(answer, header)) }
        throw garbled("a response of an unknown kind")
    }

    /// What a message of a stream holds: `{"result":…}`, or an error, thrown.
    static func result(of message: JSON) throws(EtcdError) -> JSON {
        if let error = message["error"] { throw failure(inStream: error) }
        guard let result = message["result"], case .object = result else { throw garbled("a message without a result") }
        return result
    }

    static func object(_ bytes: [UInt8]) throws(EtcdError) -> JSON {
        let json: JSON
        do throws(JSONReader.Problem) {
            json = try JSON(bytes)
        } catch {
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
        throw EtcdAnswers.garbled("“\(name)” is not a whole number of \(Number.bitWidth) bits")
    }

    /// A 64-bit number, written as a string or as a number.
    func etcdInt64(_ name: String) throws(EtcdError) -> Int64 { try whole(name) }

    /// A revision; there is always a next one.
    func etcdRevision(_ name: String) throws(EtcdError) -> Int64 {
        let revision = try etcdInt64(name)
        guard (0..<Int64.max).contains(revision) else { throw EtcdAnswers.garbled("“\(name)” is not a revision") }
        return revision
    }

    func etcdUInt64(_ name: String) throws(EtcdError) -> UInt64 { try whole(name) }

    /// Bytes in base64.
    func etcdBytes(_ name: String) throws(EtcdError) -> [UInt8] {
        guard let field = self[name], field != .null else { return [] }
        guard let text = field.string, let bytes = EtcdBase64.decode(text) else {
            throw EtcdAnswers.garbled("“\(name)” is not base64")
        }
        return bytes
    }

    func etcdFlag(_ name: String) throws(EtcdError) -> Bool {
        switch self[name] {
        case nil, .null?: return false
        case .bool(let value)?: return value
        default: throw EtcdAnswers.garbled("“\(name)” is neither true nor false")
        }
    }

    func etcdElements(_ name: String) throws(EtcdError) -> [JSON] {
        switch self[name] {
        case nil, .null?: return []
        case .array(let elements)?: return elements
        default: throw EtcdAnswers.garbled("“\(name)” is not a list")
        }
    }
}
