// Serves the page of a fleet on loopback: the panel, whose tweaks are those of the builds, with what the page adds.

import CTweaksFleetPanelFiles
import Tweaks
import TweaksFleet
import TweaksPanel
import TweaksServer

/// The page of one fleet, from start to stop.
final class FleetPanel: Sendable {
    let board: FleetBoard
    let driver: PanelDriver
    private let endpoint: PanelEndpoint
    private let server: TweakServer
    private let following: Task<Void, Never>

    /// The modules and styles that the page adds, which are embedded in this target.
    static let files: [(name: String, bytes: [UInt8])] = {
        let files = UnsafeBufferPointer(start: tweaks_fleet_panel_files(), count: tweaks_fleet_panel_files_count())
        return files.map { (String(cString: $0.name), Array(String(cString: $0.text).utf8)) }
    }()

    /// Starts to follow the fleet, and to listen.
    /// - Parameters:
    ///   - port: The preferred port; 0 for any.
    ///   - report: Called with problems of the server, such as a port that is taken.
    init(
        _ fleet: FleetOperator, _ limits: DriverLimits, _ prometheus: PrometheusSource = PrometheusSource(), port: Int,
        timing: FleetBoard.Timing = FleetBoard.Timing(),
        report: @escaping @Sendable (String) -> Void
    ) async throws(FleetRefusal) {
        let board = FleetBoard(fleet, timing: timing)
        driver = PanelDriver(fleet, limits, prometheus) { Task { await board.publish() } }
        self.board = board
        // The first reading decides whether there is anything to show.
        try await board.read()
        endpoint = PanelEndpoint(
            TweakPanel(port: port, origin: .perStart),
            addition: FleetPanelRoutes(board: board, driver: driver, limits: limits).addition(files: Self.files))
        var hooks = TweakServerHooks()
        hooks.serverEndpoints = [endpoint]
        hooks.report = report
        server = TweakServer(
            name: "fleet \(fleet.keys.name)", registry: board.registry, listeners: [], limits: TweakServerLimits(),
            hooks: hooks)
        do throws(ServerError) {
            try server.start()
        } catch {
            throw FleetRefusal(.refused, "panel: \(error)")
        }
        following = Task { await board.run() }
    }

    /// The address of the page with a code that signs in one browser.
    var address: String { server.endpointPort.map { endpoint.link(port: $0) } ?? "" }

    /// The token of programs on this machine; it grants all rights.
    var token: String { endpoint.secret }

    /// Calls a closure with the next address after each sign-in.
    func onSignIn(_ body: @escaping @Sendable (String) -> Void) {
        endpoint.onChange { [weak self] _ in self.map { body($0.address) } }
    }

    /// Ends the page, then the drivers: what they drive under a lease is reverted.
    func stop() async {
        server.stop()
        following.cancel()
        await driver.stop()
    }
}
