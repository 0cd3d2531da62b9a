// Defines the location, size and retention of the audit.

import Tweaks

/// The location of the audit and its retention.
package struct AuditSettings: Sendable {
    /// An absolute path.
    package let path: String
    /// The maximum bytes of a file; it is rotated before it would exceed them.
    package let maximumSize: Int
    /// The number of older files that are always kept.
    package let keep: Int
    /// More older files are kept until their content reaches this age.
    package let minimumAge: Duration
    /// The maximum bytes of one origin's changes on one day; beyond it, clients are refused.
    package let bytesPerDay: Int
    /// Where each line is sent, too.
    package let destinations: [AuditDestination]
    /// The name under which lines are sent.
    package let program: String
    /// Whether nothing is written in a location that others can write; otherwise that is only reported.
    package let isStrict: Bool

    /// Thirty days.
    package static let defaultMinimumAge = Duration.seconds(30 * 86_400)

    package init(
        path: String, maximumSize: Int = 10_485_760, keep: Int = 5,
        minimumAge: Duration = AuditSettings.defaultMinimumAge, bytesPerDay: Int = 33_554_432,
        destinations: [AuditDestination] = [], program: String = "tweaks", isStrict: Bool = false
    ) {
        self.path = path
        self.maximumSize = max(1, maximumSize)
        self.keep = min(max(0, keep), 1_000_000)
        self.minimumAge = max(.zero, minimumAge)
        self.bytesPerDay = bytesPerDay
        self.isStrict = isStrict
        self.destinations = destinations
        self.program = program
    }

    /// The file for refused actions, beside the main file: `audit-refused.log` for `audit.log`.
    package var refusedPath: String {
        let name = path.lastIndex(of: "/").map { path[$0...].dropFirst() } ?? path[...]
        let point = name.dropFirst().lastIndex(of: ".") ?? path.endIndex
        return "\(path[..<point])-refused\(path[point...])"
    }

    /// The maximum bytes of all refusal files, because any client can cause refusals.
    var maxRefusedBytes: Int {
        let (most, isTooMuch) = maximumSize.multipliedReportingOverflow(by: 10 * (keep + 1))
        return isTooMuch ? .max : most
    }
}
