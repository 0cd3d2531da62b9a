// Encodes the values with which the config file begins a run, where no copy shows what it was in the run before.

import Tweaks
import TweaksWire

/// The values of the config file at a start.
///
/// Each has a line, and a last line has their number and digest. Where the file has the lines of the same values from an
/// earlier start, as in a loop of crashes, only the last line is written again.
///
/// ```json
/// {"time":"2026-11-21T09:30:00.123Z","by":"config file","from":"config file","kind":"reload","start":true,"path":"Content/Text/Size","old":60,"new":64}
/// {"time":"2026-11-21T09:30:00.123Z","by":"config file","from":"config file","kind":"reload","start":true,"tweaks":1,"sha256":"…"}
/// ```
struct AuditStart {
    /// The lines without their times.
    private let values: [[UInt8]]
    private let digest: String

    init(_ changes: [TweakHistoryEntry.Change]) {
        values = changes.map { change in
            var bytes = Self.head
            AuditLineEncoder.append(
                change, from: change.old.map { AuditValue($0) }, to: change.new.map { AuditValue($0) }, &bytes)
            bytes.append("}\n")
            return bytes
        }
        digest = String(decoding: AuditChain.hexadecimal(SHA256.digest(values.joined())), as: UTF8.self)
    }

    /// - Parameter last: The digest at an earlier start, if its lines are in the file.
    func lines(after last: String?, at wall: Int64) -> [UInt8] {
        let time = Array("{\"time\":\"\(TimeText.print(wall))\",".utf8)
        let end = Self.head + Array(",\"tweaks\":\(values.count),\"sha256\":\"\(digest)\"}\n".utf8)
        return (digest == last ? [] : values.flatMap { time + $0 }) + time + end
    }

    private static let head = Array(
        "\"by\":\"config file\",\"from\":\"config file\",\"kind\":\"reload\",\"start\":true".utf8)
}
