// Tests levels of labels as tweaks.

import InMemoryLogging
import Logging
import Testing
import TweaksDaemon
import TweaksObservability

struct LevelTests {
    private let registry = TweakRegistry()
    private let levels: TweakLogLevels
    private let base = InMemoryLogHandler()

    init() { levels = TweakLogLevels(registry: registry) }

    private func logger(_ label: String) -> Logger { Logger(label: label) { levels.handler($0, base) } }

    private func set(_ path: String, _ level: String) throws { try #require(registry[path]).set(.choice(level)) }

    @Test func `A label's tweak exists from its first logger on, and loggers that exist follow it`() throws {
        let (api, store) = (logger("api"), logger("store"))
        api.debug("hidden")
        try set("Log/Levels/api", "debug")
        api.debug("shown", metadata: ["id": "7"])
        store.debug("hidden")
        #expect(base.entries.map { $0.message.description } == ["shown"])
        #expect(base.entries.first?.metadata == ["id": "7"])
        try set("Log/Levels/api", "error")
        #expect(api.logLevel == .error && store.logLevel == .info)
    }

    @Test func `The level of all applies to labels that have none`() throws {
        let (api, store) = (logger("api"), logger("store"))
        try set("Log/Levels/api", "error")
        try set("Log/Output/Level", "trace")
        #expect(api.logLevel == .error && store.logLevel == .trace && logger("late").logLevel == .trace)
    }

    @Test func `A program's own level is for one logger, and the label's tweak is above it`() throws {
        var (own, other) = (logger("api"), logger("api"))
        own.logLevel = .trace
        other[metadataKey: "a"] = "b"
        #expect(own.logLevel == .trace && other.logLevel == .info && own[metadataKey: "a"] == nil)
        try set("Log/Levels/api", "warning")
        #expect(own.logLevel == .warning && other.logLevel == .warning)
        try #require(registry["Log/Levels/api"]).reset()
        #expect(own.logLevel == .trace)
    }

    @Test func `Below one handler of several, each writes what the tweak lets pass`() throws {
        let other = InMemoryLogHandler()
        let api = Logger(label: "api") { levels.handler($0, MultiplexLogHandler([base, other])) }
        try set("Log/Levels/api", "debug")
        api.debug("shown")
        api.trace("hidden")
        #expect(base.entries.map { $0.message.description } == ["shown"] && other.entries.count == 1)
    }

    @Test(.timeLimit(.minutes(1))) func `A temporary level ends by itself`() async throws {
        let api = logger("api")
        var commits = registry.changes.makeAsyncIterator()
        try #require(registry["Log/Levels/api"]).set(.choice("debug"), for: .milliseconds(1))
        // The end is a commit of its own.
        #expect(await commits.next()?.changes.first?.new == .choice("debug"))
        #expect(await commits.next()?.changes.first?.new == .choice("default"))
        #expect(api.logLevel == .info)
    }

    @Test func `A label that is no name, and one too many, follow the level of all`() throws {
        #expect(logger("com.example/api").logLevel == .info && registry["Log/Levels/com.example.api"] != nil)
        #expect(logger("a\nb").logLevel == .info && registry.tweaks(matching: "Log/Levels/*").count == 1)
        for number in 0..<600 { _ = logger("request \(number)") }
        #expect(registry.tweaks(matching: "Log/Levels/*").count == 500)
        try set("Log/Output/Level", "debug")
        #expect(logger("request 599").logLevel == .debug)
    }
}
