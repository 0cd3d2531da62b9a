// Tests providers of swift-configuration as layers of tweaks, in a daemon.

import Configuration
import Foundation
import SystemPackage
import Testing
import TweaksConfigurationSource
import TweaksDaemon

@Suite(.timeLimit(.minutes(2))) final class SourceTests: Sendable {
    private let registry = TweakRegistry()
    private let directory: URL
    private let limit: Tweak<Int>
    private let discount: Tweak<Double>
    private let note: Tweak<String>

    init() throws {
        let name = "neighbors-\(UUID().uuidString.prefix(8))"
        directory = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        limit = try registry.register("Shop", "Cart", "Limit", 10, in: 1...100)
        discount = try registry.register("Shop", "Cart", "Discount", 0.0, in: 0...0.5)
        note = try registry.register("Shop", "Cart", "Note", "none")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func file(_ name: String, _ text: String) throws -> String {
        let file = directory.appending(path: name)
        try Data(text.utf8).write(to: file, options: .atomic)
        return file.path
    }

    /// Starts a daemon with sources; it stops when the body has returned.
    private func withDaemon(
        _ sources: [ConfigProviderSource], _ body: (TweakDaemon, Log) async throws -> Void
    ) async throws {
        let log = Log()
        var configuration = TweakDaemon.Configuration()
        configuration.registry = registry
        configuration.storage = .off
        configuration.sources = sources.map { TweakDaemon.Source($0) }
        configuration.onEvent = { log.note($0) }
        let daemon = try TweakDaemon.start(directory.lastPathComponent, configuration)
        defer { daemon.stop() }
        try await body(daemon, log)
    }

    /// Reloads as a command does: on a thread that may wait.
    private func reload(_ daemon: TweakDaemon) async throws {
        try await withCheckedThrowingContinuation { done in
            DispatchQueue(label: "reload").async { done.resume(with: Result { _ = try daemon.reload() }) }
        }
    }

    private func layers(_ tweak: Tweak<some Any>) -> [String] { tweak.erased.layers.dropFirst().map(\.description) }

    // MARK: Values

    @Test func `Environment, JSON and YAML are layers by their ranks, and explain names them`() async throws {
        let json = try await FileProvider<JSONSnapshot>(
            filePath: .init(file("a.json", #"{"shop": {"cart": {"limit": 20, "discount": 0.1, "note": "json"}}}"#)))
        let yaml = try await FileProvider<YAMLSnapshot>(
            filePath: .init(file("a.yaml", "shop:\n  cart:\n    limit: 30\n    note: yaml\n")))
        let environment = EnvironmentVariablesProvider(environmentVariables: ["SHOP_CART_LIMIT": "40"])
        let sources = [
            ConfigProviderSource(environment, TweakLayer("variables", rank: 210)),
            ConfigProviderSource(yaml, TweakLayer("yaml", rank: 120)),
            ConfigProviderSource(json, TweakLayer("json", rank: 110)),
        ]
        try await withDaemon(sources) { _, _ in
            #expect(limit.value == 40 && discount.value == 0.1 && note.value == "yaml")
            #expect(
                layers(limit) == [
                    "json 20 by shop.cart.limit", "yaml 30 by shop.cart.limit", "variables 40 by SHOP_CART_LIMIT",
                ])
            #expect(layers(discount) == ["json 0.1 by shop.cart.discount"])
        }
    }

    @Test func `Each kind is asked for by its type, and a tweak that registers later has its value at once`()
        async throws
    {
        enum Mode: String, CaseIterable, TweakConvertible { case fast, careful }
        let text = """
            {"a": {"b": {"isOn": true, "count": 5, "time": "250ms", "seconds": 1.5, "mode": "careful", "color": "orange",
              "names": ["x y", "z"], "sizes": [1, 2], "shares": [0.5, 1], "maybe": 7, "maxAttempts": 9}},
             "port": 8080}
            """
        let json = try await FileProvider<JSONSnapshot>(filePath: .init(file("a.json", text)))
        try await withDaemon([ConfigProviderSource(json, TweakLayer("json", rank: 110))]) { _, log in
            try #expect(registry.register("A", "B", "Is On", false).value)
            try #expect(registry.register("A", "B", "Count", UInt8(0)).value == 5)
            try #expect(registry.register("A", "B", "Time", Duration.zero).value == .milliseconds(250))
            try #expect(registry.register("A", "B", "Seconds", Duration.zero).value == .milliseconds(1_500))
            try #expect(registry.register("A", "B", "Mode", Mode.fast).value == .careful)
            try #expect(registry.register("A", "B", "Color", TweakColor.black).value == .orange)
            try #expect(registry.register("A", "B", "Names", [""]).value == ["x y", "z"])
            try #expect(registry.register("A", "B", "Sizes", [0]).value == [1, 2])
            try #expect(registry.register("A", "B", "Shares", [0.0]).value == [0.5, 1])
            try #expect(registry.register("A", "B", "Maybe", Int?.none).value == 7)
            try #expect(registry.register("A", "B", "MAX Attempts", 0).value == 9)
            try #expect(registry.register("A", "B", "Tries", 0, formerly: "A/B/Count").value == 0)
            try #expect(registry.register("A", "B", "Attempts", 0, formerly: "A/B/max_attempts").value == 9)
            try #expect(registry.register("Config", "General", "Port", 80).value == 8080)
            // The user of the tests may have set a variable that the daemon warns of.
            #expect(log.problems.filter { !$0.hasPrefix("TWEAKS_") } == [])
        }
    }

    @Test func `A tweak can have another key`() async throws {
        let provider = InMemoryProvider(values: ["limits.basket": 33])
        let source = ConfigProviderSource(
            provider, TweakLayer("memory", rank: 110), keys: [limit.path: "limits.basket"])
        try await withDaemon([source]) { _, _ in
            #expect(layers(limit) == ["memory 33 by limits.basket"])
        }
    }

    @Test func `A secret is given to secret tweaks alone`() async throws {
        let secret = try registry.register("Shop", "Cart", "Key", "", flags: .secret)
        let provider = InMemoryProvider(values: [
            "shop.cart.key": ConfigValue(.string("k"), isSecret: true),
            "shop.cart.note": ConfigValue(.string("n"), isSecret: true),
        ])
        try await withDaemon([ConfigProviderSource(provider, TweakLayer("memory", rank: 110))]) { _, log in
            #expect(secret.value == "k" && layers(secret) == ["memory (secret) by shop.cart.key"])
            #expect(note.value == "none")
            let problem = await log.first("Shop/Cart/Note")
            #expect(
                problem.contains("the value is secret, and the tweak would show it; declare it with flags: .secret"))
        }
    }

    // MARK: Reloading

    @Test func `A reload of the file reaches the tweak; a bad value and a bad file change nothing, and are logged`()
        async throws
    {
        var time = 1_000.0
        func rewrite(_ text: String) throws {
            // The provider compares times, which two quick writes might share.
            let path = try file("a.json", text)
            time += 1
            let date = Date(timeIntervalSince1970: time)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
        func write(_ text: String) throws { try rewrite(#"{"shop": {"cart": {"# + text + "}}}") }
        try write(#""limit": 20, "discount": 0.1"#)
        let json = try await ReloadingFileProvider<JSONSnapshot>(
            filePath: .init(directory.appending(path: "a.json").path), pollInterval: .seconds(3_600))
        // A slow machine gets the time it needs.
        let source = ConfigProviderSource(json, TweakLayer("json", rank: 110), reloadTime: .seconds(60))
        try await withDaemon([source]) { daemon, log in
            #expect(limit.value == 20)
            try write(#""limit": 25, "note": "new""#)
            try await reload(daemon)
            // One commit for the whole file, which the reload has waited for.
            #expect(limit.value == 25 && note.value == "new" && discount.value == 0 && registry.revision == 1)

            try write(#""limit": "many", "discount": 0.9, "note": "newer""#)
            try await reload(daemon)
            #expect(note.value == "newer" && limit.value == 25 && discount.value == 0)
            let type = await log.first("Shop/Cart/Limit", "not in effect")
            #expect(type.contains("shop.cart.limit") && type.hasSuffix("Write int values"))
            #expect(await log.first("0.9 is outside 0...0.5").contains("Shop/Cart/Discount"))

            try rewrite("{")
            try await reload(daemon)
            #expect(await log.first("the last good values stay").contains("ReloadingFileProvider"))
            #expect(limit.value == 25 && note.value == "newer")
        }
    }

    @Test func `A key of a former path counts while the present one has no value, and takes nothing with it`()
        async throws
    {
        let most = try registry.register("Shop", "Cart", "Most", 10, formerly: "Shop/Cart/Max")
        let provider = MutableInMemoryProvider(initialValues: ["shop.cart.max": 20])
        let source = ConfigProviderSource(provider, TweakLayer("memory", rank: 110), reloadTime: .seconds(60))
        try await withDaemon([source]) { daemon, _ in
            func set(_ value: ConfigValue?, _ key: AbsoluteConfigKey) async throws {
                provider.setValue(value, forKey: key)
                try await reload(daemon)
            }
            #expect(layers(most) == ["memory 20 by shop.cart.max"])
            try await set(30, "shop.cart.most")
            #expect(layers(most) == ["memory 30 by shop.cart.most"])
            try await set(nil, "shop.cart.max")
            #expect(layers(most) == ["memory 30 by shop.cart.most"])
            try await set(25, "shop.cart.max")
            try await set(nil, "shop.cart.most")
            #expect(layers(most) == ["memory 25 by shop.cart.max"])
            try await set(nil, "shop.cart.max")
            #expect(layers(most) == [] && most.value == 10)
        }
    }
}
