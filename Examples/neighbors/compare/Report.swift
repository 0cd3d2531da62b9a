// Measures in turn, and prints the medians as a table.

import Foundation

/// How much is measured.
struct Scale {
    var rounds = 7
    var reads = 5_000_000
    var requests = 5_000
    var sets = 100

    static let quick = Scale(rounds: 1, reads: 10, requests: 10, sets: 2)
}

/// One side of a comparison.
struct Side {
    let name: String
    /// Does it once, and returns the seconds that one operation takes.
    let measure: () throws -> Double
}

/// The printed comparison.
struct Report {
    let scale: Scale

    /// Measures the sides in turn, round by round, and prints the medians; the first one is ours.
    func section(_ title: String, _ unit: Unit, _ sides: [Side], missing: [String] = []) throws {
        var times = [[Double]](repeating: [], count: sides.count)
        for _ in 0..<scale.rounds {
            for (number, side) in sides.enumerated() { times[number].append(try side.measure()) }
        }
        row("\n" + title, unit.rawValue, "Tweaks = 1")
        let values = times.map { unit.value($0.sorted()[$0.count / 2]) }
        for (side, value) in zip(sides, values) { row("  " + side.name, number(value), number(value / values[0])) }
        for program in missing { write("  \(program) is not installed; it is left out") }
    }

    enum Unit: String {
        case nanoseconds = "ns"
        case microseconds = "µs"
        case perSecond = "per second"

        func value(_ seconds: Double) -> Double {
            switch self {
            case .nanoseconds: seconds * 1e9
            case .microseconds: seconds * 1e6
            case .perSecond: 1 / seconds
            }
        }
    }

    /// The date and the machine, without which figures say nothing.
    func header() throws {
        let processors = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = processors.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last
        var system = utsname()
        uname(&system)
        let release = withUnsafeBytes(of: system.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        write(Date.now.formatted(.iso8601.year().month().day()))
        let processor = (model ?? "an unknown processor").trimmingCharacters(in: .whitespaces)
        write("\(processor), \(cores) cores, Linux \(release); medians of \(scale.rounds) rounds, in turn")
    }

    func row(_ name: String, _ value: String, _ ratio: String) {
        func right(_ text: String) -> String { String(repeating: " ", count: max(1, 14 - text.count)) + text }
        write(name.padding(toLength: max(46, name.count), withPad: " ", startingAt: 0) + right(value) + right(ratio))
    }

    func number(_ value: Double) -> String {
        value >= 100
            ? String(format: "%.0f", value)
            : value >= 10 ? String(format: "%.1f", value) : String(format: "%.2f", value)
    }

    /// Unbuffered: a run that is cut short has shown its results.
    func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// The seconds that one of some equal operations takes.
@inline(never)
func seconds(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1) / Double(count)
}
