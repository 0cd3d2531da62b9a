// Reads a range page by page, at the revision of the first page.

/// Says what to ask for next, and puts the answers together.
struct PagedRange {
    private let range: EtcdRange
    private let end: [UInt8]?
    /// 0: all at once.
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

    /// The body of the next request; nil: there is none.
    var request: [UInt8]? {
        if isComplete { return nil }
        return EtcdRequests.range(from: first, end: end, revision: revision, limit: limit, keysOnly: range.keysOnly)
    }

    var result: EtcdRangeResult { whole ?? EtcdRangeResult(header: EtcdHeader()) }

    mutating func take(_ page: EtcdAnswers.Page) throws(EtcdError) {
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
        isComplete = !(isPaged && page.more)
        if !isComplete { first = try next(after: page.result.keys) }
    }

    /// The first key behind a page. Each page has to lead on, or the reading would not end.
    private func next(after keys: [EtcdKeyValue]) throws(EtcdError) -> [UInt8] {
        guard let last = keys.last?.key, !last.lexicographicallyPrecedes(first) else {
            throw .garbled("a page that leads nowhere")
        }
        return last + [0]
    }
}
