// What a program that embeds the server brings along, beside the registry.

package import TweaksWire
package import Tweaks

/// What the server asks others to do, and tells others of. All of it runs on the I/O thread and must not wait.
package struct TweakServerHooks: Sendable {
    /// Reads the config file and calls back with the reply, on any thread; nil where there is no such file.
    package var reload: (@Sendable (_ dry: Bool, _ then: @escaping @Sendable (Reply) -> Void) -> Void)?
    /// Where presets are kept; nil where there is no such place. It is asked beside the I/O thread.
    package var presets: (any PresetStore)?
    /// More figures for `stats`.
    package var stats: @Sendable () -> [(String, JSON)] = { [] }
    /// By command: names that may follow it, such as those of presets, for `complete`. These run beside the I/O thread.
    package var completions: [String: @Sendable () -> [String]] = [:]
    /// Told of each session that begins or ends.
    package var onSession: (@Sendable (SessionNotice.Event) -> Void)?

    /// What the session with this number may do; nil: everything.
    package var scopes: (@Sendable (_ session: UInt64, _ origin: TweakOrigin) -> [TweakScope])?

    package init() {}
}

/// Who a session is.
package struct SessionNotice: Sendable {
    /// Counts up from 1; never used twice in one run.
    package let id: UInt64
    /// `uid 1000`, or an address.
    package let peer: TweakOrigin

    /// What happens to a session.
    package enum Event: Sendable {
        case opened(SessionNotice)
        case closed(SessionNotice, reason: String)
    }
}

extension Session {
    var notice: SessionNotice { SessionNotice(id: id.number, peer: origin) }
}
