// Tests tweaks as a provider of swift-configuration, also by that package's own suite.

import Configuration
import ConfigurationTesting
import Testing
import TweaksConfiguration
import TweaksDaemon

@Suite(.timeLimit(.minutes(2))) struct ProviderTests {
    private let registry = TweakRegistry()

    private func tweak<Value: TweakConvertible>(
        _ path: String, _ value: Value, _ flags: TweakFlags = []
    ) throws -> Tweak<Value> {
        let path = try TweakPath(path)
        return try registry.register(path.category, path.collection, path.name, value, flags: flags)
    }

    // MARK: The package's own suite

    /// Declares the tweaks whose values that suite expects.
    private func declareSuite() throws {
        func list<Value: TweakContainer>(_ path: String, _ value: Value) throws {
            let path = try TweakPath(path)
            _ = try registry.register(path.category, path.collection, path.name, value)
        }
        _ = try tweak("Config/General/String", "Hello")
        _ = try tweak("Config/Other/String", "Other Hello")
        _ = try tweak("Config/General/Int", 42)
        _ = try tweak("Config/Other/Int", 24)
        _ = try tweak("Config/General/Double", 3.14)
        _ = try tweak("Config/Other/Double", 2.72)
        _ = try tweak("Config/General/Bool", true)
        _ = try tweak("Config/Other/Bool", false)
        _ = try tweak("Config/General/Bytes", "bWFnaWM=")
        _ = try tweak("Config/Other/Bytes", "bWFnaWMy")
        try list("Config/Stringy/Array", ["Hello", "World"])
        try list("Other/Stringy/Array", ["Hello", "Swift"])
        try list("Config/Inty/Array", [42, 24])
        try list("Other/Inty/Array", [16, 32])
        try list("Config/Doubly/Array", [3.14, 2.72])
        try list("Other/Doubly/Array", [0.9, 1.8])
        try list("Config/Booly/Array", [true, false])
        try list("Other/Booly/Array", [false, true, true])
        try list("Config/Byte Chunky/Array", ["bWFnaWM=", "bWFnaWMy"])
        try list("Other/Byte Chunky/Array", ["bWFnaWM=", "bWFnaWMy", "bWFnaWM="])
    }

    @Test func `It passes the suite for providers`() async throws {
        try declareSuite()
        try await ProviderCompatTest(provider: TweakConfigProvider(registry)).runTest()
    }

    @Test func `It passes the suite with values that are set, and with keys that are mapped`() async throws {
        try declareSuite()
        let count = try tweak("Deep/Down/Below Count", 7)
        try #require(registry["Config/General/Int"]).set(.int(43))
        let keys = TweakConfigKeys(["int": count.path])
        var overrides: [String: ConfigContent] = ["int": .int(7)]
        let mapped = TweakConfigProvider(registry, keys: keys)
        try await ProviderCompatTest(provider: mapped, configuration: .init(overrides: overrides)).runTest()
        overrides = ["int": .int(43)]
        let plain = TweakConfigProvider(registry)
        try await ProviderCompatTest(provider: plain, configuration: .init(overrides: overrides)).runTest()
    }

    // MARK: Keys and types

    @Test(arguments: [
        ("http.client.maxAttempts", "HTTP/Client/Max Attempts"),
        ("HTTP.client.max.attempts", "http/client/max-attempts"),
        ("http.client.retry.maxAttempts", "Http/Client/Retry Max Attempts"), ("server.port", "Config/Server/Port"),
        ("port", "config/general/port"),
    ])
    func `A key finds its tweak, whatever case and separators`(key: String, path: String) throws {
        _ = try tweak(path, 3)
        #expect(ConfigReader(provider: TweakConfigProvider(registry)).int(forKey: ConfigKey(key)) == 3)
    }

    @Test func `A key that fits two tweaks is an error that names both, until each has a key`() throws {
        let (first, second) = (try tweak("A/B/Max Size", 1), try tweak("A/B/MaxSize", 2))
        let provider = TweakConfigProvider(registry)
        #expect(
            problem { try provider.value(forKey: "a.b.maxSize", type: .int) }
                == "a.b.maxSize fits A/B/Max Size and A/B/MaxSize; name the key of each in TweakConfigKeys")
        let keys = TweakConfigKeys(["first": first.path, "second": second.path])
        let reader = ConfigReader(provider: TweakConfigProvider(registry, keys: keys))
        #expect(reader.int(forKey: "first") == 1 && reader.int(forKey: "second") == 2)
    }

    private func problem(_ body: () throws -> LookupResult) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func `A value of another type throws, and a reader with a default has that`() throws {
        _ = try tweak("Http/Client/Timeout", 2.5)
        let provider = TweakConfigProvider(registry)
        let text = problem { try provider.value(forKey: "http.client.timeout", type: .bool) }
        #expect(
            text?.hasPrefix("Http/Client/Timeout is of the kind number, and http.client.timeout is read as bool;")
                == true)
        #expect(ConfigReader(provider: provider).bool(forKey: "http.client.timeout", default: true))
    }

    @Test func `Durations are seconds and text, choices and colors text, whole numbers doubles`() throws {
        enum Mode: String, CaseIterable, TweakConvertible { case fast, careful }
        _ = try tweak("A/B/Time", Duration.milliseconds(250))
        _ = try tweak("A/B/Mode", Mode.careful)
        _ = try tweak("A/B/Color", TweakColor(0xFF8800))
        _ = try tweak("A/B/Count", 3)
        let reader = ConfigReader(provider: TweakConfigProvider(registry)).scoped(to: "a.b")
        #expect(reader.double(forKey: "time") == 0.25 && reader.string(forKey: "time") == "250ms")
        #expect(reader.string(forKey: "mode", as: Mode.self) == .careful)
        #expect(reader.string(forKey: "color") == "\(TweakColor(0xFF8800))" && reader.double(forKey: "count") == 3)
        #expect(reader.int(forKey: "color") == nil)
    }

    @Test func `Secrets are secret, actions and optionals without a value are absent`() throws {
        _ = try tweak("Db/Access/Password", "x", .secret)
        _ = try registry.register("Db", "Access", "Limit", Int?.none)
        let provider = TweakConfigProvider(registry)
        let password = try provider.value(forKey: "db.access.password", type: .string).value
        #expect(password?.isSecret == true && password?.content == .string("x"))
        #expect(try provider.value(forKey: "db.access.limit", type: .int).value == nil)
    }

    // MARK: Changes

    @Test func `A snapshot is of one revision`() throws {
        let (width, height) = (try tweak("Page/Size/Width", 1), try tweak("Page/Size/Height", 1))
        let reader = ConfigReader(provider: TweakConfigProvider(registry))
        let before = reader.snapshot()
        try registry.commit(origin: .code) { batch in
            batch.set(width, 2)
            batch.set(height, 3)
        }
        #expect(before.int(forKey: "page.size.width") == 1 && before.int(forKey: "page.size.height") == 1)
        #expect(reader.snapshot().int(forKey: "page.size.height") == 3)
    }

    @Test func `Watchers of each type get the value, then each change, and nothing at changes of others`() async throws
    {
        func check<Value: TweakConvertible>(
            _ old: Value, _ new: Value, _ contents: (ConfigContent, ConfigContent), _ type: ConfigType
        ) async throws {
            let name = "Of \(type.rawValue)"
            let (watched, other) = (try tweak("Watch/Value/\(name)", old), try tweak("Watch/Other/\(name)", old))
            let provider = TweakConfigProvider(registry)
            let key = AbsoluteConfigKey(["watch", "value", name])
            try await provider.watchValue(forKey: key, type: type) { updates in
                var seen: [ConfigContent?] = []
                for await update in updates {
                    seen.append(try update.get().value?.content)
                    if seen.count == 2 { break }
                    try other.set(new)
                    try watched.set(new)
                }
                #expect(seen == [contents.0, contents.1])
            }
        }
        try await check(false, true, (.bool(false), .bool(true)), .bool)
        try await check(1, 2, (.int(1), .int(2)), .int)
        try await check(1.5, 2.5, (.double(1.5), .double(2.5)), .double)
        try await check("a", "b", (.string("a"), .string("b")), .string)
    }

    @Test func `A reader watches, and gets the value below when an override ends`() async throws {
        let count = try tweak("Http/Client/Count", 1)
        try count.set(2)
        let reader = ConfigReader(provider: TweakConfigProvider(registry))
        let seen = try await reader.watchInt(forKey: "http.client.count", default: 0) { updates in
            var seen: [Int] = []
            for await value in updates {
                seen.append(value)
                if value == 1 { break }
                count.reset()
            }
            return seen
        }
        #expect(seen == [2, 1])
    }

    @Test func `A watcher of snapshots gets one after each commit, and ends with its task`() async throws {
        let count = try tweak("Http/Client/Count", 1)
        let provider = TweakConfigProvider(registry)
        let watching = Task {
            try await provider.watchSnapshot { snapshots in
                var seen: [ConfigContent?] = []
                for await snapshot in snapshots {
                    let value = try snapshot.value(forKey: "http.client.count", type: .int).value?.content
                    if seen.last != value { seen.append(value) }
                    if value == .int(3) {
                        withUnsafeCurrentTask { $0?.cancel() }
                    } else {
                        try count.set(count.value + 1)
                    }
                }
                return seen
            }
        }
        #expect(try await watching.value == [.int(1), .int(2), .int(3)])
    }

    // MARK: Declaring

    @Test func `A key without a tweak gets one when it is read, with the value that was read as its default`() throws {
        let provider = TweakConfigProvider(registry)
        let file = InMemoryProvider(values: ["http.client.timeout": 30.0])
        let reader = ConfigReader(providers: [provider, file], accessReporter: provider)
        #expect(reader.double(forKey: "http.client.timeout", default: 15) == 30)
        #expect(reader.int(forKey: "http.client.maxAttempts", default: 3) == 3)
        #expect(reader.bool(forKey: "verbose", default: false) == false)
        #expect(reader.string(forKey: "api.key.value", isSecret: true, default: "k") == "k")
        #expect(reader.stringArray(forKey: "hosts.all.names", default: ["a"]) == ["a"])
        let paths = registry.categories.flatMap(\.tweaks).map(\.path.joined)
        let expected = [
            "Config/General/verbose", "api/key/value", "hosts/all/names", "http/client/timeout",
            "http/client/maxAttempts",
        ]
        #expect(paths == expected)
        let timeout = try #require(registry["http/client/timeout"])
        #expect(timeout.defaultValue == .number(30) && timeout.help?.hasPrefix("Read at ConfigurationTests/") == true)
        #expect(registry["api/key/value"]?.flags == .secret)
        try timeout.set(.number(5))
        #expect(reader.double(forKey: "http.client.timeout", default: 15) == 5)
    }

    @Test func `A key that is no path, and a value that does not convert, declare nothing`() throws {
        enum Mode: String { case fast }
        let provider = TweakConfigProvider(registry)
        let file = InMemoryProvider(values: ["a.b.mode": "slow"])
        let reader = ConfigReader(providers: [provider, file], accessReporter: provider)
        #expect(reader.int(forKey: ConfigKey(["a/b", "c", "d"]), default: 3) == 3)
        #expect(reader.string(forKey: "a.b.mode", as: Mode.self, default: .fast) == .fast)
        #expect(reader.string(forKey: "a.b.absent") == nil)
        #expect(registry.count == 0)
    }

    @Test func `Keys that the program names are declared as secrets`() throws {
        let provider = TweakConfigProvider(
            registry, secrets: .dynamic { key, _ in key.components.last == "password" })
        let reader = ConfigReader(provider: provider, accessReporter: provider)
        #expect(reader.string(forKey: "db.main.password", default: "k") == "k")
        #expect(reader.string(forKey: "db.main.user", default: "u") == "u")
        #expect(registry["db/main/password"]?.flags == .secret && registry["db/main/user"]?.flags == [])
    }

    @Test func `Keys beyond the limit are read, and not declared`() {
        let provider = TweakConfigProvider(registry, declaring: 3)
        let reader = ConfigReader(provider: provider, accessReporter: provider)
        // One that cannot be declared takes no place.
        for _ in 1...5 { #expect(reader.int(forKey: ConfigKey(["a/b", "c", "d"]), default: 3) == 3) }
        for number in 1...5 {
            #expect(reader.int(forKey: ConfigKey(["user", "\(number)", "limit"]), default: number) == number)
        }
        #expect(registry.count == 3)
    }

    @Test func `A watcher of a key without a tweak gets the values of the one that it declares`() async throws {
        let provider = TweakConfigProvider(registry)
        let reader = ConfigReader(provider: provider, accessReporter: provider)
        let registry = registry
        let seen = try await reader.watchInt(forKey: "http.client.count", default: 4) { updates in
            var seen: [Int] = []
            for await value in updates {
                seen.append(value)
                if value == 9 { break }
                // The reader has reported the first value before it gave it here.
                try #require(registry["http/client/count"]).set(.int(9))
            }
            return seen
        }
        #expect(seen.first == 4 && seen.last == 9)
    }
}
