// Fuzzes responses of an untrusted etcd: no traps, results independent of chunks, and errors that are safe to print.

import Tweaks
import TweaksFleet

/// The bytes of a connection, of a stream, and of each kind of response. The first byte selects the chunk size.
enum EtcdTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        let size = Int(choice % 64) + 1
        try checkHTTP(rest, size)
        try checkStream(rest, size)
        try checkAnswers(rest)
        try checkErrors(rest, Int(choice) * 3)
    }

    // MARK: Chunks

    private struct Answer: Equatable {
        var status: Int?
        var body: [UInt8] = []
        var isComplete = false
    }

    private static func checkHTTP(_ bytes: [UInt8], _ size: Int) throws(Finding) {
        guard let whole = try? answer(bytes, bytes.count) else { return }
        guard let pieces = try? answer(bytes, size) else { throw Finding("in chunks of \(size) it is not HTTP") }
        try expect(whole == pieces, "in chunks of \(size) it is \(pieces), not \(whole)")
        try expect(whole.status.map { (200...999).contains($0) } ?? whole.body.isEmpty, "a status of \(whole)")
        if whole.isComplete { try checkStream(whole.body, size) }
    }

    private static func answer(_ bytes: [UInt8], _ size: Int) throws(EtcdError) -> Answer {
        var (reader, answer) = (HTTPResponseReader(), Answer())
        var rest = bytes[...]
        while !rest.isEmpty {
            for part in try reader.append(rest.prefix(size)) {
                switch part {
                case .status(let status): answer.status = status
                case .bytes(let bytes): answer.body += bytes
                }
            }
            rest = rest.dropFirst(size)
        }
        answer.isComplete = reader.isComplete
        return answer
    }

    private static func checkStream(_ bytes: [UInt8], _ size: Int) throws(Finding) {
        guard let whole = try? objects(bytes, max(1, bytes.count)) else { return }
        guard let pieces = try? objects(bytes, size) else { throw Finding("in chunks of \(size) it is not a stream") }
        try expect(whole == pieces, "in chunks of \(size) the objects differ")
        for object in whole {
            try expect(object.first == UInt8(ascii: "{") && object.last == UInt8(ascii: "}"), "half an object")
            try checkAnswers(object)
        }
    }

    private static func objects(_ bytes: [UInt8], _ size: Int) throws(EtcdError) -> [[UInt8]] {
        var splitter = JSONSplitter(limit: 1 << 16)
        var objects: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            objects += try splitter.append(bytes[start..<min(bytes.count, start + size)])
        }
        return objects
    }

    // MARK: Answers

    private static func checkAnswers(_ bytes: [UInt8]) throws(Finding) {
        if let page = try check({ () throws(EtcdError) in try EtcdReplies.page(bytes) }) {
            try expect(page.result.keys.allSatisfy { !$0.key.isEmpty }, "a pair without a key")
            let again = try? EtcdReplies.page(Self.written(page))
            try expect(again == page, "written and read: \(String(decoding: Self.written(page), as: UTF8.self))")
        }
        if case .events(_, let events)? = try check({ () throws(EtcdError) in try EtcdReplies.watchMessage(bytes) }) {
            try expect(events.allSatisfy { !$0.pair.key.isEmpty }, "an event without a key")
        }
        if let lease = try check({ () throws(EtcdError) in try EtcdReplies.lease(bytes) }) {
            try expect(lease.id != 0 && lease.seconds > 0, "an invalid lease")
        }
        if let token = try check({ () throws(EtcdError) in try EtcdReplies.token(bytes) }) {
            try expect(token.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a token that is not a valid header value")
        }
        _ = try check { () throws(EtcdError) in try EtcdReplies.transaction(bytes) }
        _ = try check { () throws(EtcdError) in try EtcdReplies.keptAlive(bytes) }
        _ = try check { () throws(EtcdError) in try EtcdReplies.status(bytes) }
    }

    /// The value, or nil after checking that the error is safe to print.
    private static func check<Value>(_ body: () throws(EtcdError) -> Value) throws(Finding) -> Value? {
        do throws(EtcdError) {
            return try body()
        } catch {
            try expect(Quoting.isSafe(error.description), "an unsafe character in \(error)")
            return nil
        }
    }

    private static func checkErrors(_ bytes: [UInt8], _ status: Int) throws(Finding) {
        let text = EtcdReplies.failure(status: status, bytes).description
        try expect(Quoting.isSafe(text) && text.utf8.count < 2_000, "an unsafe or long error: \(text)")
    }

    // MARK: A second encoder

    private static func written(_ page: EtcdReplies.Page) -> [UInt8] {
        let header: [(String, JSON)] = [
            ("cluster_id", .string("\(page.result.header.clusterID)")), ("revision", .int(page.result.header.revision)),
        ]
        return Array(
            JSON.object([
                ("header", .object(header)), ("kvs", .array(page.result.keys.map(written))),
                ("more", .bool(page.hasMore)), ("count", .string("\(page.result.count)")),
            ]).text.utf8)
    }

    private static func written(_ pair: EtcdKeyValue) -> JSON {
        .object([
            ("key", .string(base64(pair.key))), ("value", .string(base64(pair.value))),
            ("create_revision", .string("\(pair.createRevision)")), ("mod_revision", .int(pair.modRevision)),
            ("version", .string("\(pair.version)")), ("lease", .string("\(pair.lease)")),
        ])
    }
}

/// A simple encoder of RFC 4648.
func base64(_ bytes: [UInt8]) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    var text = ""
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let part = bytes[start..<min(start + 3, bytes.count)]
        let bits = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
        for index in 0..<4 {
            text.append(index <= part.count ? letters[bits >> (18 - 6 * index) & 63] : "=")
        }
    }
    return text
}
