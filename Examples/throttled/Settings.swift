// Declares the service's tweaks and actions; a template for your own program.

import TweaksDaemon

/// Limits of clients.
enum Limits {
    static let rate = Tweak(
        "Service", "Limits", "Rate", 10.0, in: 0...10_000, unit: "requests/s",
        help: "How many requests a second each client address may make; 0 allows only what it has saved up")
    static let burst = Tweak(
        "Service", "Limits", "Burst", 20, in: 1...10_000, unit: "requests",
        help: "How many requests an address may save up, and then make at once")
    static let connections = Tweak(
        "Service", "Limits", "Connections", 100, in: 0...10_000,
        help: "How many connections may be open; those that are open stay")
    static let line = Tweak(
        "Service", "Limits", "Line", 512, in: 16...65_536, unit: "bytes", help: "How long a request may be")
    static let idle = Tweak(
        "Service", "Limits", "Idle", .seconds(300), in: .seconds(1) ... .seconds(86_400),
        help: "How long a connection may send no line, or read no reply")
    static let grace = Tweak(
        "Service", "Limits", "Grace", .seconds(5), in: .zero ... .seconds(60),
        help: "How long a client that reads slowly has for the last reply")
}

/// Texts and timing of replies.
enum Replies {
    static let delay = Tweak(
        "Service", "Replies", "Delay", .zero, in: .zero ... .seconds(60),
        help: "Delay of each reply; applies to pending replies, too")
    static let greeting = Tweak(
        "Service", "Replies", "Greeting", "hello, type help", maxLength: 200, validate: Settings.oneLine,
        help: "The first line of a connection; empty for none")
}

/// Maintenance mode.
enum Maintenance {
    static let isOn = Tweak(
        "Service", "Maintenance", "On", false, help: "Refuses each request with the text")
    static let text = Tweak(
        "Service", "Maintenance", "Text", "back in a few minutes", maxLength: 200, validate: Settings.oneLine,
        help: "The reply to each request during maintenance")
}

/// The log on standard error.
enum Logging {
    static let level = Tweak(
        "Service", "Log", "Level", LogLevel.notice, help: "How much is logged; debug shows requests")
}

/// All tweaks in one list: statics are lazy, so the daemon needs their names.
enum Settings {
    static let all: [any TweakHandle] =
        [
            Limits.rate, Limits.burst, Limits.connections, Limits.line, Limits.idle, Limits.grace,
            Replies.delay, Replies.greeting, Maintenance.isOn, Maintenance.text, Logging.level,
        ] + Metrics.all

    /// Declares the actions.
    @discardableResult
    static func declareActions(for service: Service, registry: TweakRegistry = .shared) -> [any TweakHandle] {
        [
            tweakAction(
                "Service", "Maintenance", "Drop", help: "Closes all connections after pending replies",
                registry: registry
            ) { _ in "closing \(await service.dropAll()) connections" },
            tweakAction("Service", "Figures", "Zero", help: "Resets the counts to 0", registry: registry) { _ in
                await service.resetCounts()
                return "counting from 0"
            },
        ]
    }

    /// Validates that a text is a single line.
    @Sendable static func oneLine(_ text: String) -> String? {
        text.contains(where: \.isNewline) ? "write it on one line" : nil
    }
}
