// Reads a range page by page, at the revision of the first page.

/// Creates the requests for successive pages and merges their results.
struct PagedRange {
    private let range: EtcdRange
    private let end: [UInt8]?
    /// 0 means everything at once.
    private let limit: Int
    private var first: [UInt8]
    private var revision: Int64
    private var whole: EtcdRangeResult?
    private var isComplete = false

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

    mutating func append(_ page: EtcdReplies.Page) throws(EtcdError) {
        let isPaged = range.limit == 0 && end != nil
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
