// A token bucket for each client's address, for as many addresses as fit.

import TweaksDaemon

/// The address with the most requests.
struct Busiest: Equatable {
    var client = ""
    var requests = 0
}

/// Who asked, how often, and what they may still take.
struct Clients {
    private struct Record {
        var bucket: TokenBucket
        var requests = 0
    }

    /// How many addresses are remembered. Whoever has more than that is not held back by forgetting one.
    static let capacity = 10_000

    private var records: [String: Record] = [:]
    /// Who made the most requests.
    private(set) var busiest = Busiest()

    /// How many addresses are known.
    var count: Int { records.count }

    /// One request of a client: takes a token of its bucket, or says when there will be one.
    mutating func admit(_ client: String, at now: Instant) -> TokenBucket.Verdict {
        if records[client] == nil, records.count >= Self.capacity { forget(at: now) }
        let burst = Limits.burst.value
        var record = records[client] ?? Record(bucket: TokenBucket(burst: burst, at: now))
        defer { records[client] = record }
        let verdict = record.bucket.take(at: now, rate: Limits.rate.value, burst: burst)
        if verdict == .taken {
            record.requests += 1
            if record.requests > busiest.requests { busiest = Busiest(client: client, requests: record.requests) }
        }
        return verdict
    }

    /// Counts requests from 0 again; the buckets stay as they are.
    mutating func zero() {
        for client in records.keys { records[client]?.requests = 0 }
        busiest = Busiest()
    }

    /// A full bucket is as good as none. Where that frees too little, all start anew.
    private mutating func forget(at now: Instant) {
        let (rate, burst) = (Limits.rate.value, Limits.burst.value)
        records = records.filter { _, record in
            var bucket = record.bucket
            return !bucket.isFull(at: now, rate: rate, burst: burst)
        }
        if records.count > Self.capacity / 2 { records = [:] }
    }
}
