// Limits the request rate of each client address with a token bucket.

import TweaksDaemon

/// The address with the most requests.
struct BusiestClient: Equatable {
    var client = ""
    var requests = 0
}

/// A token bucket and a request count for each client address.
struct RateLimiter {
    private struct Record {
        var bucket: TokenBucket
        var requests = 0
    }

    /// The maximum number of remembered addresses. Forgetting an address never delays its client.
    static let capacity = 10_000

    private var records: [String: Record] = [:]
    private(set) var busiest = BusiestClient()

    /// The number of known addresses.
    var count: Int { records.count }

    /// Takes a token from the client's bucket, or returns when there will be one.
    mutating func admit(_ client: String, at now: Instant) -> TokenBucket.Verdict {
        if records[client] == nil, records.count >= Self.capacity { evict(at: now) }
        let burst = Limits.burst.value
        var record = records[client] ?? Record(bucket: TokenBucket(burst: burst, at: now))
        defer { records[client] = record }
        let verdict = record.bucket.take(at: now, rate: Limits.rate.value, burst: burst)
        if verdict == .taken {
            record.requests += 1
            if record.requests > busiest.requests {
                busiest = BusiestClient(client: client, requests: record.requests)
            }
        }
        return verdict
    }

    /// Resets the request counts; the buckets stay as they are.
    mutating func resetCounts() {
        for client in records.keys { records[client]?.requests = 0 }
        busiest = BusiestClient()
    }

    /// Removes full buckets, which are equal to new ones. Where that frees too little, removes all.
    private mutating func evict(at now: Instant) {
        let (rate, burst) = (Limits.rate.value, Limits.burst.value)
        records = records.filter { _, record in
            var bucket = record.bucket
            return !bucket.isFull(at: now, rate: rate, burst: burst)
        }
        if records.count > Self.capacity / 2 { records = [:] }
    }
}
