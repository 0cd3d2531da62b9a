// Writes metrics as Prometheus reads them: in its own text format, or as OpenMetrics.

import Tweaks
import TweaksServer
import TweaksWire

/// The format of a response with metrics.
enum MetricsFormat: Equatable, Sendable {
    /// The text format of Prometheus, version 0.0.4.
    case text
    /// OpenMetrics 1.0.
    case open

    /// The format that a request prefers; text if it does not ask for OpenMetrics.
    init(_ request: HTTPRequest) {
        var open = 0.0
        var others = 0.0
        for header in request.all(header: "accept") {
            for element in HTTPSyntax.list(header) {
                let (type, weight) = Self.preference(element)
                switch type {
                case "application/openmetrics-text": open = max(open, weight)
                case "text/plain", "text/*", "*/*": others = max(others, weight)
                default: break
                }
            }
        }
        self = open > 0 && open >= others ? .open : .text
    }

    /// A media type with its weight, 0 for a version that is not written here.
    private static func preference(_ element: String) -> (type: String, weight: Double) {
        let parts = HTTPSyntax.parts(of: element, separator: UInt8(ascii: ";"))
        var weight = 1.0
        for part in parts.dropFirst() {
            if part.hasPrefix("q=") { weight = Double(String(part.dropFirst(2))) ?? 0 }
            if part.hasPrefix("version="), !["version=1.0.0", "version=0.0.4"].contains(part) { weight = 0 }
        }
        return (parts[0], weight)
    }

    var header: HTTPField {
        let type = self == .open ? "application/openmetrics-text; version=1.0.0" : "text/plain; version=0.0.4"
        return HTTPField("Content-Type", type + "; charset=utf-8")
    }
}

/// Lines of metrics in one format.
struct MetricsText {
    /// What a family measures.
    enum FamilyType: Sendable {
        /// Only grows, until a restart.
        case counter
        case gauge
        /// Labels with the constant value 1.
        case info
    }

    let format: MetricsFormat
    private(set) var bytes: [UInt8] = []

    init(_ format: MetricsFormat) { self.format = format }

    /// Begins a family: its type, its unit, its help.
    /// - Parameters:
    ///   - name: Without `_total` and `_info`, which samples have; it ends with the unit, if there is one.
    ///   - unit: A base unit: `seconds`, `bytes`.
    mutating func begin(_ name: String, _ type: FamilyType, unit: String? = nil, _ help: String) {
        let isOpen = format == .open
        let shown = isOpen ? name : name + Self.suffix(type)
        let word = type == .counter ? " counter\n" : isOpen && type == .info ? " info\n" : " gauge\n"
        append("# TYPE ", shown, word)
        if isOpen, let unit { append("# UNIT ", shown, " ", unit, "\n") }
        append("# HELP ", shown, " ")
        append(escaped: help, quotes: isOpen)
        append("\n")
    }

    private mutating func append(_ parts: String...) {
        for part in parts { bytes.append(part) }
    }

    /// Writes a sample of the family that was begun last.
    mutating func add(_ name: String, _ type: FamilyType = .gauge, _ labels: [(String, String)] = [], _ value: String) {
        append(name, Self.suffix(type))
        var separator = "{"
        for (label, text) in labels {
            append(separator, label, "=\"")
            append(escaped: text, quotes: true)
            append("\"")
            separator = ","
        }
        append(labels.isEmpty ? " " : "} ", value, "\n")
    }

    /// Ends the whole text. In OpenMetrics a text without this line was cut off.
    mutating func end() {
        if format == .open { append("# EOF\n") }
    }

    private static func suffix(_ type: FamilyType) -> String {
        switch type {
        case .counter: "_total"
        case .info: "_info"
        case .gauge: ""
        }
    }

    /// Appends a help or the value of a label, with its escapes.
    private mutating func append(escaped text: String, quotes: Bool) {
        for byte in text.utf8 {
            let isBreak = byte == UInt8(ascii: "\n")
            if isBreak || byte == UInt8(ascii: "\\") || quotes && byte == UInt8(ascii: "\"") {
                bytes.append(UInt8(ascii: "\\"))
            }
            bytes.append(isBreak ? UInt8(ascii: "n") : byte)
        }
    }
}

extension MetricsText {
    static let figures = "tweaks_figure"

    /// What every response begins with: the version, the start, and the head of the figures.
    mutating func begin(_ readiness: Readiness) {
        begin("tweaks_build", .info, "The version of Tweaks in this process.")
        add("tweaks_build", .info, [("version", PackageVersion.text), ("protocol", PackageVersion.wire)], "1")
        begin("tweaks_server_start_time_seconds", .gauge, unit: "seconds", "When the server was started, since 1970.")
        add("tweaks_server_start_time_seconds", TweakValue.shortest(Double(readiness.startedAt) / 1_000))
        begin("tweaks_server_uptime_seconds", .gauge, unit: "seconds", "The time since the server was started.")
        add("tweaks_server_uptime_seconds", TweakValue.shortest(readiness.uptime()))
        begin(Self.figures, .gauge, "Figures that the program publishes; durations in seconds, true is 1.")
    }

    private mutating func add(_ name: String, _ value: String) { add(name, .gauge, [], value) }

    /// Adds a figure; nothing for another tweak, for a secret, and for a value that is no number.
    mutating func add(_ node: TweakNode, _ value: TweakValue?) {
        let definition = node.definition
        guard definition.flags.contains(.readOnly), !definition.flags.contains(.secret),
            let number = value.flatMap(Self.number)
        else { return }
        let unit = if case .duration? = value { "seconds" } else { definition.unit ?? "" }
        add(Self.figures, .gauge, [("path", node.path.joined), ("unit", unit)], number)
    }

    private static func number(_ value: TweakValue) -> String? {
        switch value {
        case .bool(let value): value ? "1" : "0"
        case .int(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .number(let value): value.isFinite ? TweakValue.shortest(value) : nil
        case .duration(let value): TweakValue.shortest(value / .seconds(1))
        default: nil
        }
    }
}
