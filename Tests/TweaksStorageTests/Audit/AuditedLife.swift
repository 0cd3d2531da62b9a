// One run of a program with an audit, and what was reported meanwhile.

import Synchronization
import Testing
import Tweaks
import TweaksStorage
import TweaksSystem

/// A registry whose commits are written down.
final class AuditedLife: Sendable {
    let registry: TweakRegistry
    let trail: AuditTrail
    let time: ManualTime
    let events: Events

    final class Events: Sendable {
        let list = Mutex<[AuditTrail.Event]>([])
    }

    init(
        _ path: String, files: any FileSystem = PosixFileSystem(), maximumSize: Int = 10_485_760, keep: Int = 5,
        minimumAge: Duration = AuditSettings.usualAge, isStrict: Bool = false
    ) throws {
        let (time, events) = (ManualTime(), Events())
        (self.time, self.events) = (time, events)
        registry = TweakRegistry { time.now }
        _ = try registry.register("A", "B", "X", 1.0)
        trail = AuditTrail(
            AuditSettings(
                path: path, maximumSize: maximumSize, keep: keep, minimumAge: minimumAge, isStrict: isStrict),
            registry: registry, fileSystem: files, time: time
        ) { event in events.list.withLock { $0.append(event) } }
    }

    deinit { trail.close() }

    var reported: [String] { events.list.withLock { $0.map(\.description) } }

    func set(_ value: Double, by session: UInt64 = 1, _ user: UInt32 = 1000) throws {
        let connection = TweakConnection(transport: "unix socket", peer: "uid \(user) pid 7")
        try registry.commit(
            try #require(registry["A/B/X"]).node, .set(.number(value)), origin: .user(user).through(connection),
            kind: .change(session: session), delivery: .caller)
    }

    /// One commit, and the second in which no other one would be written.
    func setAndWrite(_ value: Double) throws {
        try set(value)
        time.waitUntilAsleep(for: .seconds(1))
        time.advance(by: .seconds(1))
        time.waitUntilIdle()
    }
}
