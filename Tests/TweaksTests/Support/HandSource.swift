// Provides a source of values whose answers and failures a test chooses.

import Synchronization

@testable import Tweaks

/// A source that records its calls.
final class HandSource: TweakValueSource {
    private struct State {
        var answers: [String: TweakSourceEntry] = [:]
        var calls: [String] = []
        var sink: TweakSourceSink?
    }

    let layer: TweakLayer
    private let loaded: [TweakPath: TweakSourceEntry]
    private let failure: TweakError?
    private let state = Mutex(State())

    init(
        _ layer: TweakLayer, answers: [String: TweakSourceEntry] = [:], loads: [TweakPath: TweakSourceEntry] = [:],
        failsWith failure: TweakError? = nil
    ) {
        self.layer = layer
        self.failure = failure
        loaded = loads
        state.withLock { $0.answers = answers }
    }

    var calls: [String] { state.withLock { $0.calls } }
    var sink: TweakSourceSink? { state.withLock { $0.sink } }

    func answer(_ path: String, _ entry: TweakSourceEntry?) { state.withLock { $0.answers[path] = entry } }

    func load(_ sink: TweakSourceSink) {
        state.withLock { state in
            state.sink = sink
            state.calls.append("load")
        }
        if !loaded.isEmpty { sink.replace(loaded) }
    }

    func start(_ sink: TweakSourceSink) throws {
        state.withLock { $0.calls.append("start") }
        if let failure { throw failure }
    }

    func stop() { state.withLock { $0.calls.append("stop") } }

    func reload() { state.withLock { $0.calls.append("reload") } }

    var status: [(name: String, value: TweakValue?)] { [("", .string("x")), ("state", .int(3)), ("age", nil)] }

    func entry(for path: TweakPath) -> TweakSourceEntry? { state.withLock { $0.answers[path.joined] } }
}

extension TweakRegistry {
    /// Opens sources as a daemon does.
    func open(_ sources: any TweakValueSource...) throws -> OpenSources {
        try OpenSources(sources, of: self, SourceSetting(daemon: "test"))
    }
}
