// Everything an operator can change while the service runs: the file to copy.

import TweaksDaemon

/// What clients may take.
enum Limits {
    static let rate = Tweak(
        "Service", "Limits", "Rate", 10.0, in: 0...10_000, unit: "requests/s",
        help: "How many requests a second each client address may make; 0 leaves it what it has saved up")
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

/// What clients are told, and when.
enum Replies {
    static let delay = Tweak(
        "Service", "Replies", "Delay", .zero, in: .zero ... .seconds(60),
        help: "How long each reply is held back, also those that wait already")
    static let greeting = Tweak(
        "Service", "Replies", "Greeting", "hello, type help", maxLength: 200, validate: Settings.oneLine,
        help: "The first line of a connection; empty for none")
}

/// Whether there is service at all.
enum Maintenance {
    static let isOn = Tweak(
        "Service", "Maintenance", "On", false, help: "Answers each request with the text, and does nothing")
    static let text = Tweak(
        "Service", "Maintenance", "Text", "back in a few minutes", maxLength: 200, validate: Settings.oneLine,
        help: "What clients are told meanwhile")
}

/// What is said on standard error.
enum Logging {
    static let level = Tweak(
        "Service", "Log", "Level", LogLevel.notice, help: "How much is logged; debug shows requests")
}

/// All of it in one place: statics are lazy, so whoever serves them has to name them.
enum Settings {
    static let all: [any TweakHandle] =
        [
            Limits.rate, Limits.burst, Limits.connections, Limits.line, Limits.idle, Limits.grace,
            Replies.delay, Replies.greeting, Maintenance.isOn, Maintenance.text, Logging.level,
        ] + Figures.all

    /// What can be run by name.
    @discardableResult
    static func declareActions(for service: Service, registry: TweakRegistry = .shared) -> [any TweakHandle] {
        [
            tweakAction(
                "Service", "Maintenance", "Drop", help: "Closes all connections, once their replies are sent",
                registry: registry
            ) { _ in "closing \(await service.dropAll()) connections" },
            tweakAction("Service", "Figures", "Zero", help: "Counts from 0 again", registry: registry) { _ in
                await service.zero()
                return "counting from 0"
            },
        ]
    }

    /// A text that is sent as a line must not be two.
    @Sendable static func oneLine(_ text: String) -> String? {
        text.contains(where: \.isNewline) ? "write it on one line" : nil
    }
}
