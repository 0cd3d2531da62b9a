// Sends each audit line to the system's log, syslog or journald, without waiting for it.

import Synchronization
import Tweaks
import TweaksSystem
import TweaksWire

/// A place outside the machine's files, or at least outside the reach of the process's user, for copies of audit lines.
package enum AuditDestination: Equatable, Sendable {
    /// Datagrams as `syslog(3)` sends them, to the socket at this path.
    case syslog(String)
    /// The native protocol of journald, to the socket at this path.
    case journald(String)

    /// Its name, as it can be written in `TWEAKS_AUDIT`.
    fileprivate var name: String {
        switch self {
        case .syslog(let path): "syslog:\(path)"
        case .journald(let path): "journald:\(path)"
        }
    }

    fileprivate var path: String {
        switch self {
        case .syslog(let path), .journald(let path): path
        }
    }

    /// The maximum bytes of a line: a receiver cuts longer messages, and their link is at the end.
    fileprivate var maxBytes: Int {
        switch self {
        case .syslog: 7_900
        case .journald: 131_072
        }
    }
}

/// Ships the lines of one audit file. A line that a socket does not take at once is counted.
final class AuditShipper: Sendable {
    /// The lines of one destination.
    private struct Counts {
        var shipped = 0
        var lost = 0
        /// Those lost since the last line about it, and whether a line has arrived since. A line about lost ones is sent,
        /// too: while it is lost itself, it would be followed by the next.
        var (unreported, hasRecovered) = (0, false)
    }

    private let destinations: [(kind: AuditDestination, socket: UnixDatagrams?)]
    private let program: String
    private let time: any StorageTime
    private let isRefusals: Bool
    private let counts: Mutex<[Counts]>

    /// Nil without destinations.
    init?(_ destinations: [AuditDestination], program: String, isRefusals: Bool, _ time: any StorageTime) {
        if destinations.isEmpty { return nil }
        self.destinations = destinations.map { ($0, UnixDatagrams(Array($0.path.utf8))) }
        self.program = program
        self.isRefusals = isRefusals
        self.time = time
        counts = Mutex(Array(repeating: Counts(), count: destinations.count))
    }

    /// The number of copies that the destinations have taken, and have not.
    var info: (shipped: Int, lost: Int) {
        counts.withLock { counts in counts.reduce((0, 0)) { ($0.0 + $1.shipped, $0.1 + $1.lost) } }
    }

    /// Sends a line.
    func ship(_ line: ArraySlice<UInt8>) {
        for (index, (kind, socket)) in destinations.enumerated() {
            let isSent = socket.map { $0.send(message(line, kind)) == nil } ?? false
            counts.withLock { counts in
                if isSent {
                    counts[index].shipped += 1
                    counts[index].hasRecovered = counts[index].unreported > 0
                } else {
                    counts[index].lost += 1
                    counts[index].unreported += 1
                }
            }
        }
    }

    /// The lost lines since the last call, of each destination that has taken others since.
    func takeLost() -> [(to: String, lines: Int)] {
        counts.withLock { counts in
            counts.indices.filter { counts[$0].hasRecovered }.map { index in
                defer { (counts[index].unreported, counts[index].hasRecovered) = (0, false) }
                return (destinations[index].kind.name, counts[index].unreported)
            }
        }
    }

    // MARK: Messages

    private func message(_ line: ArraySlice<UInt8>, _ kind: AuditDestination) -> [UInt8] {
        let text = line.count <= kind.maxBytes ? Array(line) : Self.shortened(line)
        // The facility authpriv, 10; notice for refusals, else info.
        let severity = isRefusals ? 5 : 6
        switch kind {
        case .syslog:
            return Array("<\(80 + severity)>\(localTime) \(program)[\(ThisProcess.id)]: ".utf8) + text
        case .journald:
            let fields = "PRIORITY=\(severity)\nSYSLOG_FACILITY=10\nSYSLOG_IDENTIFIER=\(program)\nMESSAGE="
            return Array(fields.utf8) + text + [UInt8(ascii: "\n")]
        }
    }

    /// What stands for a line that is too long: its link proves the line in the file.
    private static func shortened(_ line: ArraySlice<UInt8>) -> [UInt8] {
        let link = AuditChain.Line(line).map { String(decoding: $0.link, as: UTF8.self) } ?? ""
        return Array("{\"kind\":\"long line\",\"bytes\":\(line.count),\"chain\":\"\(link)\"}".utf8)
    }

    /// `Nov 21 09:30:00`, as `syslog(3)` writes it.
    private var localTime: String {
        var seconds = time_t(time.wall / 1_000)
        var local = tm()
        localtime_r(&seconds, &local)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let two = { (number: Int32, fill: String) in number < 10 ? "\(fill)\(number)" : "\(number)" }
        let clock = [local.tm_hour, local.tm_min, local.tm_sec].map { two($0, "0") }.joined(separator: ":")
        return "\(months[Int(local.tm_mon)]) \(two(local.tm_mday, " ")) \(clock)"
    }
}
