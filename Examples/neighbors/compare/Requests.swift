// Compares requests to servers, the delay to a watcher, and sets that are on disk when they are answered.

import Foundation

extension Report {
    func requests(_ directory: String) throws {
        let found = [
            ("redis-server", try Peer.redis(directory)), ("memcached", try Peer.memcached()),
            ("haproxy", try Peer.haproxy(directory)),
        ]
        let peers = [try Peer.tweaks()] + found.compactMap(\.1)
        let missing = found.filter { $0.1 == nil }.map(\.0)
        // A server ends with its peer.
        try withExtendedLifetime(peers) {
            for inFlight in [1, 32] { try requests(peers, inFlight, missing) }
        }
    }

    private func requests(_ peers: [Peer], _ inFlight: Int, _ missing: [String]) throws {
        let shape = inFlight == 1 ? "one at a time" : "\(inFlight) in flight"
        try section(
            "get, 1 connection, \(shape)", .perSecond,
            try peers.map { peer in
                let request = String(repeating: peer.dialect.get, count: inFlight)
                return try side(peer, peer.dialect.getMark, inFlight) { _ in request }
            }, missing: missing)
        try section(
            "set, 1 connection, \(shape)", .perSecond,
            try peers.map { peer in
                try side(peer, peer.dialect.setMark, inFlight) { round in
                    // Each one changes the value.
                    (0..<inFlight).map { peer.dialect.set(round * inFlight + $0) }.joined()
                }
            }, missing: missing)
    }

    private func side(
        _ peer: Peer, _ mark: Character, _ inFlight: Int, _ request: @escaping (Int) -> String
    ) throws -> Side {
        let client = try peer.connect()
        let rounds = max(scale.requests / inFlight, 1)
        let requests = (1...rounds).map(request)
        return Side(name: peer.name) {
            try seconds(rounds * inFlight) {
                for request in requests { try client.ask(request, mark, replies: inFlight) }
            }
        }
    }

    func watching(_ directory: String) throws {
        let found = [("redis-server", try Peer.redis(directory)), ("etcd", try Peer.etcd(directory))]
        let peers = [try Peer.tweaks()] + found.compactMap(\.1)
        let sides = try peers.map { peer in
            let (setter, watcher) = (try peer.connect(), try peer.connect())
            let dialect = peer.dialect
            try watcher.ask(dialect.watch.request, dialect.watch.mark)
            var counter = 1
            return Side(name: peer.name) {
                try seconds(scale.sets) {
                    for _ in 0..<scale.sets {
                        counter += 1
                        try setter.send((dialect.publish ?? dialect.set)(counter))
                        try watcher.receive(dialect.eventMark)
                        try setter.receive(dialect.publishMark ?? dialect.setMark)
                    }
                }
            }
        }
        try withExtendedLifetime(peers) {
            try section("set → watcher", .microseconds, sides, missing: found.filter { $0.1 == nil }.map(\.0))
        }
    }

    func durable(_ directory: String) throws {
        let found = [
            ("redis-server", try Peer.redis(directory, isDurable: true)), ("etcd", try Peer.etcd(directory)),
        ]
        let peers = [try Peer.tweaks("\(directory)/state")] + found.compactMap(\.1)
        let sides = try peers.map { peer in
            let client = try peer.connect()
            var counter = 1
            return Side(name: peer.name) {
                try seconds(scale.sets) {
                    for _ in 0..<scale.sets {
                        counter += 1
                        try client.ask(peer.dialect.set(counter), peer.dialect.setMark)
                    }
                }
            }
        }
        let missing = found.filter { $0.1 == nil }.map(\.0)
        try withExtendedLifetime(peers) {
            try section("set that is on disk when it is answered", .perSecond, sides, missing: missing)
        }
    }
}
