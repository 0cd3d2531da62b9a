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
    private struct Counts {
        var shipped = 0
        var lost = 0
        /// Those lost since the last line about it, and whether a line has arrived since.
        var (unreported, hasRecovered) = (0, false)
    }

    private let destinations: [(kind: AuditDestination, socket: UnixDatagrams?)]
    private let program: String
    private let time: any StorageTime
    private let isRefusals: Bool
    private let counts = Mutex(Counts())

    /// Nil without destinations.
    init?(_ destinations: [AuditDestination], program: String, isRefusals: Bool, _ time: any StorageTime) {
        if destinations.isEmpty { return nil }
        self.destinations = destinations.map { ($0, UnixDatagrams(Array($0.path.utf8))) }
        self.program = program
        self.isRefusals = isRefusals
        self.time = time
    }

    /// The number of lines sent, and of those that a destination did not take.
    var info: (shipped: Int, lost: Int) { counts.withLock { ($0.shipped, $0.lost) } }

    /// Sends a line.
    func ship(_ line: ArraySlice<UInt8>) {
        for (kind, socket) in destinations {
            let isSent = socket.map { $0.send(message(line, kind)) == nil } ?? false
            counts.withLock { counts in
                if isSent {
                    counts.shipped += 1
                    counts.hasRecovered = counts.unreported > 0
                } else {
                    counts.lost += 1
                    counts.unreported += 1
                }
            }
        }
    }

    /// The number of lost lines since the last call, once others have arrived; nil for none.
    func takeLost() -> Int? {
        counts.withLock { counts in
            guard counts.hasRecovered else { return nil }
            defer { (counts.unreported, counts.hasRecovered) = (0, false) }
            return counts.unreported
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
