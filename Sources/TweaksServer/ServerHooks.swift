// What a program that embeds the server brings along, beside the registry.

package import TweaksWire
package import Tweaks
import TweaksSystem

/// What the server asks others to do, and tells others of. All of it runs on the I/O thread and must not wait.
package struct TweakServerHooks: Sendable {
    /// Reads the config file and calls back with the reply, on any thread; nil where there is no such file.
    package var reload: (@Sendable (_ dry: Bool, _ then: @escaping @Sendable (Reply) -> Void) -> Void)?
    /// The audit, which has a commit before its author is answered; nil where there is none.
    package var audit: (any CommitWitness)?
    /// Where presets are kept; nil where there is no such place. It is asked beside the I/O thread.
    package var presets: (any PresetStore)?
    /// More figures for `stats`.
    package var stats: @Sendable () -> [(String, JSON)] = { [] }
    /// The names of presets, for `complete`; asked for beside the I/O thread.
    package var presetNames: @Sendable () -> [String] = { [] }
    /// Told of what happens to each session.
    package var onSessionEvent: (@Sendable (TweakSessionEvent) -> Void)?
    /// Who else may do what.
    package var access = TweakAccess()
    /// The tokens that are taken, as they are at the start; later ones come by `tokensChanged`. Nil: none are.
    package var tokens: (@Sendable () -> TokenTable)?
    /// Where clients are spoken with otherwise than by lines, beside the listeners.
    package var fronts: [any ServerFront] = []
    /// The time of day in milliseconds since 1970, by which tokens expire. It may jump.
    package var wallClock: @Sendable () -> Int64 = { ThisProcess.wallClock }
    /// The time by which deadlines go; it never jumps, but where a test has it in hand. See `TweakServer.wake()`.
    package var clock: @Sendable () -> ContinuousClock.Instant = { .now }
    /// Stands between the server and the kernel, in tests.
    package var faults: (any SystemFaults)?

    package init() {}

    /// The same in a layout that the compiler knows.
    var now: Moment { Moment(clock()) }

    /// The time of day at a moment of the clock that never jumps.
    func wallClock(at instant: ContinuousClock.Instant) -> Int64 {
        wallClock() - Int64((clock() - instant) / .milliseconds(1))
    }
}
