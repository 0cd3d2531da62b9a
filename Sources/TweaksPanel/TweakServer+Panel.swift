// The panel of a server that a program makes by itself.

import TweaksWire
public import Tweaks
public import TweaksServer

extension TweakServer {
    /// A server with a panel; nothing is opened before ``TweaksServer/TweakServer/start()``.
    /// - Parameters:
    ///   - panel: Where it listens. Beyond loopback a server refuses to start, since it has no file of tokens.
    ///   - name: What clients are told the process is called.
    ///   - registry: Whose tweaks are served.
    ///   - listeners: Where else; any number.
    ///   - limits: What one client, and all together, may take.
    ///   - access: Who else may do what on a Unix socket, and what is given on request.
    ///   - onSession: Told of what happens to each session, on the I/O thread: note it down, and return.
    public convenience init(
        panel: TweakPanel, name: String, registry: TweakRegistry = .shared, listeners: [TweakListener] = [],
        limits: TweakServerLimits = TweakServerLimits(), access: TweakAccess = TweakAccess(),
        onSession: (@Sendable (TweakSessionEvent) -> Void)? = nil
    ) {
        var hooks = TweakServerHooks()
        (hooks.access, hooks.onSessionEvent) = (access, onSession)
        if panel.isOn { hooks.fronts = [PanelFront(panel)] }
        self.init(name: name, registry: registry, listeners: listeners, limits: limits, hooks: hooks)
    }

    /// The address of the panel, with the token of this server; nil where there is none, or the server does not run.
    ///
    /// Whoever has it may do everything. Print it where only its user reads it.
    public var panelAddress: String? {
        guard let front = fronts.lazy.compactMap({ $0 as? PanelFront }).first, let port = frontPort else { return nil }
        return front.link(port: port)
    }
}
