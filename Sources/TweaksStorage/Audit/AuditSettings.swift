// Says where the audit is, how much of it is kept, and how long at least.

import Tweaks

/// The place of the audit, and how much is kept.
package struct AuditSettings: Sendable {
    /// An absolute path.
    package let path: String
    /// A file that would become larger is renamed first; in bytes.
    package let maximumSize: Int
    /// How many older files are kept, whatever their age.
    package let keep: Int
    /// More of them are kept as long as what is in them is younger.
    package let minimumAge: Duration
    /// Whether nothing is written where others could have done so; else that is only said.
    package let isStrict: Bool

    /// Thirty days.
    package static let usualAge = Duration.seconds(30 * 86_400)

    package init(
        path: String, maximumSize: Int = 10_485_760, keep: Int = 5, minimumAge: Duration = AuditSettings.usualAge,
        isStrict: Bool = false
    ) {
        (self.path, self.maximumSize, self.keep) = (path, max(1, maximumSize), min(max(0, keep), 1_000_000))
        (self.minimumAge, self.isStrict) = (max(.zero, minimumAge), isStrict)
    }

    /// The file of what was refused, beside the other: `audit-refused.log` for `audit.log`.
    package var refusedPath: String {
        let name = path.lastIndex(of: "/").map { path[$0...].dropFirst() } ?? path[...]
        let point = name.dropFirst().lastIndex(of: ".") ?? path.endIndex
        return "\(path[..<point])-refused\(path[point...])"
    }

    /// The files of refusals together never have more bytes than this: strangers must not fill a disk.
    var mostRefused: Int {
        let (most, isTooMuch) = maximumSize.multipliedReportingOverflow(by: 10 * (keep + 1))
        return isTooMuch ? .max : most
    }
}
