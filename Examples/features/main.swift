// Runs a program whose values also come from a JSON file, the environment and the arguments.
//
// Run it: TWEAK_SHOP_CART_LIMIT=30 swift run features --tweak Shop/Cart/Note=hello

import Foundation
import Synchronization
import TweaksDaemon

enum Shop {
    static let limit = Tweak("Shop", "Cart", "Limit", 10, in: 1...100, help: "How many things a cart holds")
    static let note = Tweak("Shop", "Cart", "Note", "", help: "Shown above the cart")
    static let discount = Tweak("Shop", "Cart", "Discount", 0.0, in: 0...0.5, help: "The share taken off all prices")
}

/// Values in a JSON file, `{"Shop/Cart/Limit": "20"}`, which it reads again every second.
final class Features: TweakValueSource {
    let layer = TweakLayer("features", rank: 150)
    private let file: URL
    private let state = Mutex(State())

    private struct State {
        var sink: TweakSourceSink?
        var lastRead: Data?
        var polling: Task<Void, any Error>?
    }

    init(_ path: String) { file = URL(filePath: path) }

    /// Before a client connects, the values are in effect.
    func load(_ sink: TweakSourceSink) {
        state.withLock { $0.sink = sink }
        reload()
    }

    func start(_ sink: TweakSourceSink) {
        let polling = Task { [weak self] in
            while true {
                try await Task.sleep(for: .seconds(1))
                self?.reload()
            }
        }
        state.withLock { $0.polling = polling }
    }

    /// Also lets go of the sink, which holds this source.
    func stop() {
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.polling?.cancel()
    }

    /// Reads the file, and gives its values to the sink if it has changed.
    func reload() {
        guard let data = try? Data(contentsOf: file) else { return }
        let sink = state.withLock { state in
            defer { state.lastRead = data }
            return state.lastRead == data ? nil : state.sink
        }
        guard let sink else { return }
        do {
            let texts = try JSONDecoder().decode([String: String].self, from: data)
            var values: [TweakPath: TweakSourceEntry] = [:]
            for (path, text) in texts { values[try TweakPath(path)] = .text(text, origin: TweakOrigin(file.path)) }
            sink.replace(values)
        } catch {
            sink.warn("\(file.path): \(error); the last good values stay, put the file right")
        }
    }

    var status: [(name: String, value: TweakValue?)] { [("file", .string(file.path))] }
}

let path = ProcessInfo.processInfo.environment["FEATURES_FILE"] ?? "features.json"
await TweakDaemon.main(
    "features", sources: [TweakDaemon.Source(Features(path)), .environment(), .arguments],
    tweaks: Shop.limit, Shop.note, Shop.discount)
