// Declares what the Swift blocks of the guides take as given; .ci/snippets compiles them against it.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Tweaks
public import TweaksFleet

public enum Alignment: String, CaseIterable, TweakConvertible { case left, center, right }
public enum LogLevel: String, CaseIterable, TweakConvertible { case debug, info }

public enum Look {
    public static let size = Tweak("Content", "Text", "Size", 60.0, in: 10...100)
    public static let alpha = Tweak("Content", "Text", "Alpha", 1.0, in: 0...1)
    public static let color = Tweak("Content", "Text", "Color", TweakColor.black)
    public static let retries = Tweak("Network", "Retry", "Attempts", UInt8(3))
    public static let title = Tweak("Content", "Text", "Title", "Tweaks")
    public static let host = Tweak("Network", "Peer", "Host", "localhost")
    public static let fade = Tweak("Content", "Text", "Fade", .milliseconds(250))
    public static let align = Tweak("Content", "Text", "Alignment", Alignment.left)
    public static let font = Tweak("Content", "Text", "Font", "Avenir")
    public static let level = Tweak("Log", "Output", "Level", 1)
    public static let all: [any TweakHandle] = [size, alpha, color]
}
public enum Upstream { public static let retry = TweakGroup("Upstream", "Payments", TweakRetryPolicy()) }
public enum Settings { public static let logLevel = Tweak("Log", "Output", "Level", LogLevel.info) }

public let registry = TweakRegistry()
public let plugin = (name: "Plug-in", version: 1)
public func draw(size: Double, color: TweakColor) {}
public func layout(_ size: Double) {}
public func log(_ line: String) {}
public func emptyCache() async throws {}
public struct Receipt: Sendable {}
public func pay() async throws -> Receipt { Receipt() }
public struct Client: Sendable {
    public init() {}
    public var attempts: Int { get async { 1 } }
}

/// The view that the blocks bind values to, and the subject of the tests.
@MainActor public final class LabelView {
    public var text = ""
    public var alpha = 1.0
    public var margin = 0.0
    public var isHidden = false
}
@MainActor public let label = LabelView()
@MainActor public let view = LabelView()
public struct Label {
    public init(size: Tweak<Double> = Look.size) {}
    public var height: Double { 0 }
    public var fits: Bool { true }
}

public struct Stage: Sendable {
    public static func open(port: Int) throws -> Stage { Stage() }
    public func play() async {}
    public func close() {}
}
public struct Player: Sendable {
    public func mute() {}
    public func play<Mode>(_ file: String, volume: Double, mode: Mode, bus: String) async throws {}
}
public let player = Player()
public enum Mode: String, CaseIterable, TweakConvertible { case once, loop }

/// The interface of swift-log's `Logger` that the guides use.
public struct Logger: Sendable {
    public enum Level: String, Sendable { case debug, info, warning }
    public func log(level: Level, _ message: String) {}
}
public let logger = Logger()

/// The interface of SwiftUI that the guides use.
public protocol View { associatedtype Body; var body: Body { get } }
public struct Font { public static func system(size: Double) -> Font { Font() } }
public struct Text: View {
    public init(_ text: String) {}
    public var body: Never { fatalError("it is never shown") }
    public func font(_ font: Font) -> Text { self }
}

/// That of Examples/neighbors.
public struct TLSConnector: EtcdConnector {
    public init(authorities: String?, certificate: String? = nil, key: String? = nil) throws {}
    public func connect(host: String, port: Int) throws -> Int32 { -1 }
}
