// Defines what an embedding program supplies to the server besides the registry.

package import TweaksWire
package import Tweaks
import TweaksSystem

/// The callbacks and services of the embedding program. All of them run on the I/O thread, unless stated, and must not
/// block.
package struct TweakServerHooks: Sendable {
    /// Reads the config file and calls back with the reply, on any thread; nil if there is no such file.
    package var reload: (@Sendable (_ dry: Bool, _ then: @escaping @Sendable (Reply) -> Void) -> Void)?
    /// The audit, which records a commit before its author gets a reply; nil if there is none.
    package var audit: (any CommitSink)?
    /// The preset store; nil if there is none. Called off the I/O thread.
    package var presets: (any PresetStore)?
    /// Additional fields for `stats`.
    package var stats: @Sendable () -> [(String, JSON)] = { [] }
    /// The names of presets, for `complete`; called off the I/O thread.
    package var presetNames: @Sendable () -> [String] = { [] }
    /// Called for each session event.
    package var onSessionEvent: (@Sendable (TweakSessionEvent) -> Void)?
    /// The rights of other users.
    package var access = TweakAccess()
    /// The token table at the start; `tokensChanged` updates it. Nil means that no tokens are accepted.
    package var tokens: (@Sendable () -> TokenTable)?
    /// Endpoints with their own dialects, in addition to the listeners.
    package var serverEndpoints: [any Endpoint] = []
    /// The time of day in milliseconds since 1970, by which tokens expire. It may jump.
    package var wallClock: @Sendable () -> Int64 = { ThisProcess.wallClock }
    /// Writes a line for operators to the log.
    package var report: @Sendable (String) -> Void = { StandardError.write("tweaks: \($0)\n") }
    /// How another TCP port is chosen.
    package var portRemedy = "choose another port"
    /// Called after the files of the Unix sockets were checked.
    package var onSocketCheck: @Sendable () -> Void = {}
    /// The monotonic clock for deadlines. Tests may control it; see `TweakServer.wake()`.
    package var clock: @Sendable () -> Moment = { .now }
    /// The user of the next connection on loopback, for tests; nil: the kernel is asked.
    package var loopbackUser: (@Sendable () -> UInt32?)?
    /// Intercepts system calls in tests.
    package var faults: (any FaultInjector)?

    package init() {}

    /// The current time in a type whose layout the compiler knows.
    var now: Moment { clock() }

    /// The wall clock time of a monotonic one.
    func wallClock(at time: Moment) -> Int64 {
        wallClock() - Int64((now - time) / .milliseconds(1))
    }
}
