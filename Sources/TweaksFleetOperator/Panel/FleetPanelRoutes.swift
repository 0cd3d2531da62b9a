// Answers the requests of a fleet's page: finds the route, and turns errors into those of the panel.

import Tweaks
import TweaksFleet
import TweaksPanel
import TweaksWire

/// The routes below `/api/fleet`.
struct FleetPanelRoutes: Sendable {
    typealias Fields = [(String, JSON)]

    let board: FleetBoard
    let driver: PanelDriver
    let limits: DriverLimits

    var fleet: FleetOperator { board.fleet }

    /// What the page adds to the panel.
    func addition(files: [(name: String, bytes: [UInt8])]) -> PanelExtension {
        PanelExtension("fleet", files: files) { request, reply in
            Task {
                do throws(FleetRefusal) {
                    reply(.ok("", try await answer(try FleetCall(request))))
                } catch {
                    reply(.error(TweakError(error)))
                }
            }
        }
    }

    private func answer(_ call: FleetCall) async throws(FleetRefusal) -> Fields {
        try await call.isChange ? change(call) : read(call)
    }

    private func read(_ call: FleetCall) async throws(FleetRefusal) -> Fields {
        switch call.path {
        case []:
            if let number = try call.query("after") {
                guard let number = UInt64(number) else {
                    throw FleetRefusal(.usage, "the query: after must be the number of a state, such as 7")
                }
                await board.wait(after: number)
            }
            return await board.state(driver)
        case ["processes"]: return try await board.known().processes(matching: try call.query("q") ?? "")
        case ["holders"]: return try await board.known().holders(of: try call.tweakPath(), fleet.keys)
        case ["figures"]: return try await board.known().figures
        case ["charts"]: return try await board.charts(of: try call.query("rollout") ?? "")
        case ["history"]: return try await history()
        default: throw call.unknown
        }
    }

    private func change(_ call: FleetCall) async throws(FleetRefusal) -> Fields {
        switch call.path {
        case ["check"]: return try await check(call.body)
        case ["write"]: return try await write(call.body)
        case ["rollouts"]: return try await rollOut(call.body)
        case ["undo"]: return try await undo(call.body)
        default:
            guard call.path.count == 3, call.path[0] == "rollouts" else { throw call.unknown }
            return try await steer(call.path[1], call.path[2], call.body)
        }
    }

    private func history() async throws(FleetRefusal) -> Fields {
        let history = try await fleet.history()
        let authors = try await fleet.authors()
        let lines = history.lines.suffix(200).reversed().map { line in
            FleetClient.json(line) { authors.verdict(at: history.revision(of: $0)) }
        }
        return [("history", .array(lines)), ("now", .int(fleet.now()))]
    }
}

extension TweakError {
    /// The panel's error for an operator's.
    init(_ refusal: FleetRefusal) {
        let code: Code =
            switch refusal.kind {
            case .usage: .usage
            case .unreachable: .timeout
            case .refused, .suspended, .claimLost: .conflict
            }
        // Options of the command line have the names of fields here.
        let text = refusal.description
        self.init(code, text.hasPrefix("--") ? String(text.dropFirst(2)) : text)
    }
}
