// Tests the events of a daemon as lines, metrics and spans.

import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Testing
import Tracing
import TweaksDaemon
import TweaksObservability

struct EventTests {
    private let registry = TweakRegistry()
    private let logged = InMemoryLogHandler()
    private let metrics = TestMetrics()
    private let tracer = InMemoryTracer()
    private let size: Tweak<Double>
    private let key: Tweak<String>

    init() throws {
        size = try registry.register("Page", "Text", "Size", 10.0, in: 1...100)
        key = try registry.register("Page", "Text", "Key", "", flags: .secret)
    }

    /// Runs a daemon while the body does; its last events are handled then.
    private func withDaemon(_ body: (TweakDaemon) throws -> Void) throws {
        var logger = Logger(label: "tweaks") { _ in logged }
        logger.logLevel = .debug
        let events = TweakEvents(logger, metrics: metrics, tracer: tracer)
        var configuration = TweakDaemon.Configuration()
        configuration.registry = registry
        configuration.storage = .off
        configuration.onEvent = events.handler
        let daemon = try TweakDaemon.start("events-\(UUID().uuidString.prefix(8))", configuration)
        defer { daemon.stop() }
        try body(daemon)
    }

    private func entry(_ text: String) -> InMemoryLogHandler.Entry? {
        logged.entries.first { $0.message.description.contains(text) }
    }

    @Test func `A commit is a line with metadata, metrics, and a span with an event for each change`() throws {
        try withDaemon { _ in
            try registry.commit(origin: TweakOrigin("a test")) { batch in
                batch.set(size, 12)
                batch.set(key, "hidden")
            }
        }
        let line = try #require(entry("Page/Text/Size = 12 (was 10) by a test, rev 1"))
        #expect(line.level == .info)
        #expect(line.metadata["tweaks.origin"] == "a test" && line.metadata["tweaks.revision"] == "1")
        #expect(try metrics.expectCounter("tweaks.commits").totalValue == 1)
        #expect(try metrics.expectCounter("tweaks.changes").totalValue == 2)
        #expect(try metrics.expectGauge("tweaks.revision").lastValue == 1)
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.operationName == "tweaks commit" && span.parentSpanID == nil)
        #expect(span.attributes.get("tweaks.origin") == .string("a test"))
        let changes = span.events.map { $0.attributes.get("tweaks.change") }
        #expect(changes == [.string("Page/Text/Size = 12 (was 10)"), .string("Page/Text/Key = (set)")])
        #expect(!"\(logged.entries) \(tracer.finishedSpans)".contains("hidden"))
    }

    @Test func `A commit of many changes has few lines, and a span with few events`() throws {
        let tweaks = try (0..<30).map { try registry.register("Page", "Row", "Height \($0)", 1) }
        try withDaemon { _ in
            try registry.commit(origin: TweakOrigin("a test")) { batch in
                for tweak in tweaks { batch.set(tweak, 2) }
            }
        }
        let lines = logged.entries.filter { $0.metadata["tweaks.revision"] == "1" }
        #expect(lines.count == 21)
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.events.count == 20 && span.attributes.get("tweaks.changes") == .int64(30))
    }

    @Test func `A problem is a warning, and is counted`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "events-\(UUID().uuidString.prefix(8)).conf")
        try Data("Page/Text/Size = 500\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let events = TweakEvents(Logger(label: "tweaks") { _ in logged }, metrics: metrics, tracer: nil)
        var configuration = TweakDaemon.Configuration()
        configuration.registry = registry
        configuration.storage = .off
        configuration.config = TweakDaemon.ConfigFile(file.path)
        configuration.onEvent = events.handler
        try TweakDaemon.start("events-\(UUID().uuidString.prefix(8))", configuration).stop()
        let line = try #require(entry("500 is outside 1...100"))
        #expect(line.level == .warning && line.metadata["tweaks.file"] == .string(file.path))
        // Others may be variables that the user of the tests has set.
        #expect(try metrics.expectCounter("tweaks.problems").totalValue >= 1)
        #expect(tracer.finishedSpans.isEmpty)
    }

    @Test func `Sessions are counted while they are open`() throws {
        try withDaemon { daemon in
            let path = try #require(daemon.socketPath)
            let answer = try ask(path, "get Page/Text/Size\nquit\n")
            #expect(answer.contains("Page/Text/Size = 10"))
        }
        let meter = try metrics.expectMeter("tweaks.sessions")
        #expect(meter.values.max() == 1 && meter.lastValue == 0)
        let line = logged.entries.first { $0.metadata["tweaks.session"] == "1" }
        #expect(line?.level == .debug && line?.metadata["tweaks.transport"] == "unix socket")
    }

    /// Sends requests to a Unix socket, and returns all that comes until the end.
    private func ask(_ path: String, _ requests: String) throws -> String {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        try #require(result == 0)
        _ = requests.withCString { write(descriptor, $0, strlen($0)) }
        let data = try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).readToEnd() ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}
