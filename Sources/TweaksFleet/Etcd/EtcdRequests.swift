// Encodes the bodies of requests to etcd's JSON gateway.

import Tweaks

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
        case .delete(let keys), .range(let keys, _): 2 * ends(keys).first.count + 32
        }
    }

    private static func compare(_ compare: EtcdTransaction.Compare) -> JSON {
        let (key, target, field, revision) =
            switch compare {
            case .modRevision(let key, let revision): (key, "MOD", "mod_revision", revision)
            case .createRevision(let key, let revision): (key, "CREATE", "create_revision", revision)
            }
        return .object([
            ("key", base64(key)), ("target", .string(target)), ("result", .string("EQUAL")),
            (field, number(revision)),
        ])
    }

    private static func operation(_ operation: EtcdTransaction.Operation) -> JSON {
        switch operation {
        case .put(let key, let value, let lease):
            let fields = [("key", base64(key)), ("value", base64(value)), ("lease", number(lease))]
            return .object([("request_put", .object(fields))])
        case .delete(let keys): return .object([("request_delete_range", .object(bounds(keys)))])
        case .range(let keys, let limit):
            return .object([("request_range", .object(bounds(keys) + [("limit", number(Int64(limit)))]))])
        }
    }

    private static func bounds(_ keys: EtcdKeys) -> [(String, JSON)] {
        let (first, end) = ends(keys)
        return bounds(first, end)
    }

    private static func bounds(_ first: [UInt8], _ end: [UInt8]?) -> [(String, JSON)] {
        [("key", base64(first))] + (end.map { [("range_end", base64($0))] } ?? [])
    }

    private static func base64(_ bytes: [UInt8]) -> JSON { .string(EtcdBase64.encode(bytes)) }
    private static func number(_ value: Int64) -> JSON { .string(String(value)) }
    private static func body(_ fields: [(String, JSON)]) -> [UInt8] {
        var bytes: [UInt8] = []
        JSON.object(fields).append(to: &bytes)
        return bytes
    }
}
