// Writes requests as etcd's gateway reads them: keys and values in base64, 64-bit numbers as texts.

import Foundation
import Tweaks

/// Writers of requests.
enum EtcdRequest {
    /// What etcd takes unless it is told otherwise (`--max-txn-ops`).
    static let mostOperations = 128
    /// Below `--max-request-bytes`, whose 1.5 MiB are counted after base64 is read.
    static let mostBytes = 1_900_000

    static func range(_ range: EtcdRange, after last: [UInt8]? = nil) -> [(String, JSON)] {
        var fields = keys(range.keys)
        if let last { fields[0].1 = .base64(last + [0]) }
        if range.limit > 0 { fields.add("limit", .string("\(range.limit)")) }
        if range.revision > 0 { fields.add("revision", .string("\(range.revision)")) }
        if range.keysOnly { fields.add("keys_only", .bool(true)) }
        return fields
    }

    static func transaction(_ transaction: EtcdTransaction) -> [(String, JSON)] {
        [
            ("compare", .array(transaction.compares.map(compare))),
            ("success", .array(transaction.success.map(operation))),
            ("failure", .array(transaction.failure.map(operation))),
        ]
    }

    static func watch(_ range: EtcdKeys, from revision: Int64) -> [(String, JSON)] {
        let create = keys(range) + [("start_revision", .string("\(revision)")), ("progress_notify", .bool(true))]
        return [("create_request", .object(create))]
    }

    private static func compare(_ compare: EtcdTransaction.Compare) -> JSON {
        let (key, target, field, revision) =
            switch compare {
            case .modRevision(let key, let revision): (key, "MOD", "mod_revision", revision)
            case .createRevision(let key, let revision): (key, "CREATE", "create_revision", revision)
            }
        return .object([
            ("key", .base64(key)), ("target", .string(target)), ("result", .string("EQUAL")),
            (field, .string("\(revision)")),
        ])
    }

    private static func operation(_ operation: EtcdTransaction.Operation) -> JSON {
        switch operation {
        case .put(let key, let value, let lease):
            var fields: [(String, JSON)] = [("key", .base64(key)), ("value", .base64(value))]
            if lease != 0 { fields.add("lease", .string("\(lease)")) }
            return .object([("request_put", .object(fields))])
        case .delete(let range): return .object([("request_delete_range", .object(keys(range)))])
        case .range(let range, let limit):
            return .object([("request_range", .object(self.range(EtcdRange(range, limit: limit))))])
        }
    }

    private static func keys(_ keys: EtcdKeys) -> [(String, JSON)] {
        switch keys {
        case .key(let key): [("key", .base64(key))]
        case .prefix(let prefix): [("key", .base64(prefix)), ("range_end", .base64(end(of: prefix)))]
        }
    }

    /// The first key behind all with a prefix: its last byte raised by one. A byte that cannot be raised is left out.
    static func end(of prefix: [UInt8]) -> [UInt8] {
        var end = prefix
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        return [0]
    }
}

extension EtcdKeys {
    var isKey: Bool { if case .key = self { true } else { false } }
}

extension JSON {
    fileprivate static func base64(_ bytes: [UInt8]) -> JSON { .string(Data(bytes).base64EncodedString()) }
}
