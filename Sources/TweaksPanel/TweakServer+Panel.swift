// Creates a server that also serves the panel, and returns the panel's address.

import TweaksWire
public import Tweaks
public import TweaksServer

extension TweakServer {
    /// Creates a server with a panel; nothing is opened before ``TweaksServer/TweakServer/start()``.
    /// - Parameters:
    ///   - panel: The address and port of the panel. Beyond loopback the server refuses to start: it has no token file.
    ///   - name: The name of the process that clients see.
    ///   - registry: The registry whose tweaks are served.
    ///   - listeners: Further listeners; any number.
    ///   - limits: Limits for one client and for all together.
    ///   - access: The rights of other users on a Unix socket, and the rights granted on request.
    ///   - onSession: Called with each event of a session on the I/O thread; it must return quickly.
    public convenience init(
        panel: TweakPanel, name: String, registry: TweakRegistry = .shared, listeners: [TweakListener] = [],
        limits: TweakServerLimits = TweakServerLimits(), access: TweakAccess = TweakAccess(),
        onSession: (@Sendable (TweakSessionEvent) -> Void)? = nil
    ) {
        var hooks = TweakServerHooks()
        hooks.access = access
        hooks.onSessionEvent = onSession
        if panel.isOn { hooks.serverEndpoints = [PanelEndpoint(panel)] }
        self.init(name: name, registry: registry, listeners: listeners, limits: limits, hooks: hooks)
    }

    /// The address of the panel, with a code that signs in one browser; nil without a panel, or while the server is not
    /// running. Once the code is used, the address has another one.
    ///
    /// It grants all rights. Print it only where its user alone can read it.
    public var panelAddress: String? { endpointPort.flatMap { panel?.link(port: $0) } }

    /// The panel's own token, with which programs have all rights; nil without a panel, or while the server is not
    /// running.
    public var panelToken: String? { endpointPort.flatMap { _ in panel?.secret } }

    private var panel: PanelEndpoint? { serverEndpoints.lazy.compactMap { $0 as? PanelEndpoint }.first }
}
