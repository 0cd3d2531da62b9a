// Runs a program with an audit trail, and records the events of the trail.

import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

/// A registry whose commits are written to an audit file.
final class AuditedRun: Sendable {
    let registry: TweakRegistry
    let trail: AuditTrail
    let time = ManualClock()
    private let events = Recorder<AuditTrail.Event>()

    init(
        _ path: String, files: any FileSystem = PosixFileSystem(), maximumSize: Int = 10_485_760, keep: Int = 5,
        minimumAge: Duration = AuditSettings.defaultMinimumAge, bytesPerDay: Int = 33_554_432,
        destinations: [AuditDestination] = [], isStrict: Bool = false
    ) throws {
        registry = TweakRegistry { [time] in time.now }
        _ = try registry.register("A", "B", "X", 1.0)
        trail = AuditTrail(
            AuditSettings(
                path: path, maximumSize: maximumSize, keep: keep, minimumAge: minimumAge, bytesPerDay: bytesPerDay,
                destinations: destinations, program: "probe", isStrict: isStrict),
            registry: registry, fileSystem: files, time: time, onEvent: { [events] in events.note($0) })
    }

    deinit { trail.close() }

    var reported: [String] { events.all.map(\.description) }

    func set(_ value: Double, by session: UInt64 = 1, _ user: UInt32 = 1000) throws {
        let connection = TweakConnection(transport: "unix socket", peer: "uid \(user) pid 7")
        try registry.commit(
            try #require(registry["A/B/X"]).node, .set(.number(value)), origin: .user(user).through(connection),
            kind: .change(session: session), delivery: .caller)
    }

    /// Commits once, and waits for the end of the second in which no other commit would be written.
    func setAndWrite(_ value: Double) throws {
        try set(value)
        time.advance(whenAsleepFor: .seconds(1))
        time.waitUntilIdle()
    }

    /// Writes a note of a session that came by TCP.
    func note(
        _ kind: String, by user: String = "ops", port: Int = 1, session: UInt64 = 1, isRefusal: Bool = false,
        _ details: [(key: String, value: AuditNote.Detail)] = []
    ) {
        trail.note(
            AuditNote(
                by: user, from: "tcp", peer: "127.0.0.1:\(port)", session: session, kind: kind, isRefusal: isRefusal,
                details))
    }

    /// Advances the clock and blocks until the trail has done what is due and waits again.
    func advance(by duration: Duration, at location: SourceLocation = #_sourceLocation) {
        time.advance(by: duration)
        time.waitUntilAsleep(at: location)
    }
}
