// Reads a range page by page, at the revision of the first page.

extension EtcdKeyValue {
    /// Its size in memory, in bytes, with the headers of its key and its value.
    var memorySize: Int { MemoryLayout<EtcdKeyValue>.stride + 64 + key.count + value.count }
}

/// Creates the requests for successive pages and merges their results.
struct PagedRange {
    private let range: EtcdRange
    private let end: [UInt8]?
    /// 0 means everything at once.
    private var limit: Int
    private var bytes = 0
    private var first: [UInt8]
    private var revision: Int64
    private var whole: EtcdRangeResult?
    private var isComplete = false

    /// The size limit of a range in memory. A fleet of 10,000 values takes a tenth of it.
    static let maxBytes = 64 << 20

    init(_ range: EtcdRange, pageSize: Int) {
        self.range = range
        (first, end) = EtcdRequests.ends(range.keys)
        limit = range.limit > 0 || end == nil ? max(0, range.limit) : max(1, pageSize)
        revision = range.revision
    }

    /// The body of the next request; nil when the range is complete.
    var request: [UInt8]? {
        if isComplete { return nil }
        return EtcdRequests.range(from: first, end: end, revision: revision, limit: limit, keysOnly: range.keysOnly)
    }

    var result: EtcdRangeResult { whole ?? EtcdRangeResult(header: EtcdHeader()) }

    private var isPaged: Bool { range.limit == 0 && end != nil }

    /// Requests fewer keys at once, after an answer that was too large; false if it was for a single key.
    mutating func shrink() -> Bool {
        guard isPaged, limit > 1 else { return false }
        limit = max(1, limit / 8)
        return true
    }

    mutating func append(_ page: EtcdReplies.Page) throws(EtcdError) {
        bytes += page.result.keys.reduce(0) { $0 + $1.memorySize }
        if bytes > Self.maxBytes {
            throw .tooLarge("keys and values of more than \(Self.maxBytes) bytes; \(EtcdReplies.remedy)")
        }
        if var result = whole {
            guard result.header.clusterID == page.result.header.clusterID else {
                throw .garbled("endpoints of different clusters")
            }
            result.keys += page.result.keys
            whole = result
        } else {
            whole = page.result
            if range.revision != 0 { whole?.header.revision = range.revision }
            revision = result.header.revision
        }
        isComplete = !(isPaged && page.hasMore)
        if !isComplete { first = try next(after: page.result.keys) }
    }

    /// Returns the first key after a page. Each page must advance, or reading would never end.
    private func next(after keys: [EtcdKeyValue]) throws(EtcdError) -> [UInt8] {
        guard let last = keys.last?.key, !last.lexicographicallyPrecedes(first) else {
            throw .garbled("a page that leads nowhere")
        }
        return last + [0]
    }
}
