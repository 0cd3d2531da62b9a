// Encodes requests to etcd's JSON gateway and parses its replies. Malformed input never traps.

import Tweaks
import TweaksWire

/// Request bodies: field names as in etcd's API, 64-bit numbers as strings, bytes in base64.
package enum EtcdRequests {
    /// The maximum number of operations in a transaction: etcd's default.
    package static let maxOperations = 128
    /// The maximum size of a transaction in bytes; etcd's limit of 1.5 MiB includes its overhead.
    package static let maxBytes = 1_468_006

    static func range(
        from first: [UInt8], end: [UInt8]?, revision: Int64, limit: Int, keysOnly: Bool
    ) -> [UInt8] {
        var fields = bounds(first, end)
        if revision != 0 { fields.append(("revision", number(revision))) }
        if limit != 0 { fields.append(("limit", number(Int64(limit)))) }
        if keysOnly { fields.append(("keys_only", .bool(true))) }
        return body(fields)
    }

    static func transaction(_ transaction: EtcdTransaction) throws(EtcdError) -> [UInt8] {
        try check(transaction)
        return body([
            ("compare", .array(transaction.compares.map(compare))),
            ("success", .array(transaction.success.map(operation))),
            ("failure", .array(transaction.failure.map(operation))),
        ])
    }

    static func watch(_ keys: EtcdKeys, from revision: Int64) -> [UInt8] {
        var fields = bounds(keys)
        fields.append(("start_revision", number(revision)))
        fields.append(("progress_notify", .bool(true)))
        return body([("create_request", .object(fields))])
    }

    static func deletion(_ keys: EtcdKeys) -> [UInt8] { body(bounds(keys)) }
    static func lease(_ id: Int64) -> [UInt8] { body([("ID", number(id))]) }
    static func grant(seconds: Int64) -> [UInt8] { body([("TTL", number(seconds))]) }
    static func authenticate(_ user: String, _ password: String) -> [UInt8] {
        body([("name", .string(user)), ("password", .string(password))])
    }

    /// Returns the first key of a range and the first one after it; a nil end stands for a single key.
    static func ends(_ keys: EtcdKeys) -> (first: [UInt8], end: [UInt8]?) {
        switch keys {
        case .key(let key): return (key, nil)
        case .prefix(let prefix):
            var end = prefix
            // Increment the last byte; drop bytes that cannot be incremented.
            while end.last == 0xFF { end.removeLast() }
            if let last = end.popLast() { end.append(last + 1) }
            // In etcd's API a zero byte stands for the first key, or for the end of all keys.
            return (prefix.isEmpty ? [0] : prefix, end.isEmpty ? [0] : end)
        }
    }
}

// MARK: - Parts

extension EtcdRequests {
    private static func check(_ transaction: EtcdTransaction) throws(EtcdError) {
        let lists = [transaction.success, transaction.failure]
        let count = max(transaction.compares.count, lists.map(\.count).max() ?? 0)
        if count > maxOperations {
            throw .tooLarge("\(count) operations in a transaction, and \(maxOperations) are taken; make several")
        }
        let bytes = lists.joined().reduce(transaction.compares.count * 64) { $0 + size($1) }
        if bytes > maxBytes {
            throw .tooLarge("\(bytes) bytes in a transaction, and \(maxBytes) are taken; make several")
        }
    }

    private static func size(_ operation: EtcdTransaction.Operation) -> Int {
        switch operation {
        case .put(let key, let value, _): key.count + value.count + 32
        case .delete(let keys), .range(let keys, _, _): 2 * ends(keys).first.count + 32
        }
    }

    private static func compare(_ compare: EtcdTransaction.Compare) -> JSON {
        // A range is compared by every key of it; one without keys compares as a key that does not exist.
        let (keys, revision, result) =
            switch compare {
            case .modRevision(let key, let revision), .createRevision(let key, let revision):
                (EtcdKeys.key(key), revision, "EQUAL")
            case .absent(let prefix): (EtcdKeys.prefix(prefix), 0 as Int64, "EQUAL")
            case .noneCreated(let prefix, let revision): (EtcdKeys.prefix(prefix), revision &+ 1, "LESS")
            }
        let isOfChange = if case .modRevision = compare { true } else { false }
        let (target, field) = isOfChange ? ("MOD", "mod_revision") : ("CREATE", "create_revision")
        return .object(
            bounds(keys) + [("target", .string(target)), ("result", .string(result)), (field, number(revision))])
    }

    private static func operation(_ operation: EtcdTransaction.Operation) -> JSON {
        switch operation {
        case .put(let key, let value, let lease):
            let fields = [("key", base64(key)), ("value", base64(value)), ("lease", number(lease))]
            return .object([("request_put", .object(fields))])
        case .delete(let keys): return .object([("request_delete_range", .object(bounds(keys)))])
        case .range(let keys, let limit, let keysOnly):
            var fields = bounds(keys) + [("limit", number(Int64(limit)))]
            if keysOnly { fields.append(("keys_only", .bool(true))) }
            return .object([("request_range", .object(fields))])
        }
    }

    private static func bounds(_ keys: EtcdKeys) -> [(String, JSON)] {
        let (first, end) = ends(keys)
        return bounds(first, end)
    }

    private static func bounds(_ first: [UInt8], _ end: [UInt8]?) -> [(String, JSON)] {
        var fields = [("key", base64(first))]
        if let end { fields.append(("range_end", base64(end))) }
        return fields
    }

    private static func base64(_ bytes: [UInt8]) -> JSON { .string(Base64.encode(bytes)) }
    private static func number(_ value: Int64) -> JSON { .string(String(value)) }
    private static func body(_ fields: [(String, JSON)]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSON.object(fields).append(to: &bytes)
        return bytes
    }
}

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
            header: try header(reply), succeeded: true, responses: [.delete(count: try reply.etcdNumber("deleted"))])
    }

    /// Parses the reply to `lease/grant`.
    package static func lease(_ bytes: [UInt8]) throws(EtcdError) -> EtcdLease {
        let reply = try object(bytes)
        let lease = EtcdLease(id: try reply.etcdNumber("ID"), seconds: try reply.etcdNumber("TTL"))
        guard lease.id != 0, lease.seconds > 0 else { throw .garbled("a lease has no ID or no TTL") }
        return lease
    }

    /// Parses the reply to `lease/keepalive`: one message of a stream. Returns nil without a TTL: the lease is gone.
    package static func keptAlive(_ bytes: [UInt8]) throws(EtcdError) -> EtcdLease? {
        let result = try result(of: try firstObject(bytes))
        let lease = EtcdLease(id: try result.etcdNumber("ID"), seconds: try result.etcdNumber("TTL"))
        return lease.seconds > 0 ? lease : nil
    }

    /// Parses the reply to `maintenance/status`.
    package static func status(_ bytes: [UInt8]) throws(EtcdError) -> EtcdStatus {
        let reply = try object(bytes)
        let size: Int64 = try reply.etcdNumber("dbSize")
        if size < 0 { throw .garbled("“dbSize” is not a size") }
        // A member lists the cluster's alarms as texts: `memberID:8211f1d0f64f3269 alarm:NOSPACE `.
        let errors = try reply.etcdElements("errors").compactMap(\.string)
        return EtcdStatus(
            header: try header(reply), version: reply["version"]?.string ?? "",
            leader: try reply.etcdNumber("leader"), size: size,
            alarms: EtcdAlarm.allCases.filter { alarm in errors.contains { $0.contains(alarm.rawValue) } })
    }

    /// Parses the reply to `auth/authenticate`.
    package static func token(_ bytes: [UInt8]) throws(EtcdError) -> String {
        guard let token = try object(bytes)["token"]?.string, !token.isEmpty else { throw .garbled("no token in it") }
        // The token is sent as a header value.
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .garbled("a token is not plain text") }
        return token
    }
}

// MARK: - Parts of answers

extension EtcdReplies {
    static func header(_ reply: JSON) throws(EtcdError) -> EtcdHeader {
        let header = reply["header"] ?? .object([])
        return EtcdHeader(
            clusterID: try header.etcdNumber("cluster_id"), revision: try header.etcdRevision("revision"))
    }

    static func pair(_ json: JSON) throws(EtcdError) -> EtcdKeyValue {
        let pair = EtcdKeyValue(
            key: try json.etcdBytes("key"), value: try json.etcdBytes("value"),
            createRevision: try json.etcdRevision("create_revision"),
            modRevision: try json.etcdRevision("mod_revision"),
            version: try json.etcdNumber("version"), lease: try json.etcdNumber("lease"))
        if pair.key.isEmpty { throw .garbled("a pair has no key") }
        return pair
    }

    private static func range(_ reply: JSON, _ header: EtcdHeader) throws(EtcdError) -> EtcdRangeResult {
        var keys: [EtcdKeyValue] = []
        for element in try reply.etcdElements("kvs") { keys.append(try pair(element)) }
        return EtcdRangeResult(header: header, keys: keys, count: try reply.etcdNumber("count"))
    }

    /// Parses one response of a transaction. Its own header has fewer fields than the transaction's.
    private static func response(
        _ json: JSON, _ header: EtcdHeader
    ) throws(EtcdError) -> EtcdTransactionResult.Response {
        if json["response_put"] != nil { return .put }
        if let reply = json["response_delete_range"] { return .delete(count: try reply.etcdNumber("deleted")) }
        if let reply = json["response_range"] { return .range(try range(reply, header)) }
        throw .garbled("a response of an unknown kind")
    }

    /// Returns the content of a stream message, `{"result":…}`; throws if it is an error.
    static func result(of message: JSON) throws(EtcdError) -> JSON {
        if let error = message["error"] { throw failure(inStream: error) }
        guard let result = message["result"], case .object = result else {
            throw .garbled("a message without a result")
        }
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
            throw .garbled("\(error)")
        }
        guard case .object = json else { throw .garbled("it is not an object") }
        return json
    }

    private static func firstObject(_ bytes: [UInt8]) throws(EtcdError) -> JSON {
        var splitter = JSONSplitter(limit: 1 << 20)
        guard let first = try splitter.append(bytes).first else { throw .garbled("it ends too early") }
        return try object(first)
    }
}

// MARK: - Fields

extension JSON {
    /// Reads a number, encoded as a string or as a number; 0 if it is absent.
    func etcdNumber<Number: FixedWidthInteger>(_ name: String) throws(EtcdError) -> Number {
        switch self[name] {
        case nil, .null?: return 0
        case .string(let text)?, .literal(let text)?:
            if let number = Number(text) { return number }
        default: break
        }
        throw .garbled("“\(name)” is not a whole number of \(Number.bitWidth) bits")
    }

    /// Reads a revision; rejects the largest number, so that incrementing never overflows.
    func etcdRevision(_ name: String) throws(EtcdError) -> Int64 {
        let revision: Int64 = try etcdNumber(name)
        guard (0..<Int64.max).contains(revision) else { throw .garbled("“\(name)” is not a revision") }
        return revision
    }

    /// Reads bytes encoded in base64.
    func etcdBytes(_ name: String) throws(EtcdError) -> [UInt8] {
        guard let field = self[name], field != .null else { return [] }
        guard let text = field.string, let bytes = Base64.decode(text) else {
            throw .garbled("“\(name)” is not base64")
        }
        return bytes
    }

    func etcdFlag(_ name: String) throws(EtcdError) -> Bool {
        switch self[name] {
        case nil, .null?: return false
        case .bool(let value)?: return value
        default: throw .garbled("“\(name)” is neither true nor false")
        }
    }

    func etcdElements(_ name: String) throws(EtcdError) -> [JSON] {
        switch self[name] {
        case nil, .null?: return []
        case .array(let elements)?: return elements
        default: throw .garbled("“\(name)” is not a list")
        }
    }
}
