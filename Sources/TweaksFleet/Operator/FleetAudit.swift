// Exports the log of a fleet as lines that are appended to a file, without gaps or doubles over restarts.

import Tweaks

/// What an append-only export of the log has, and what is to be appended to it.
///
/// Each line is a log entry as etcd has it. The log keeps the last 200, so that an export that is away for longer lacks
/// some: a line `{"missing":…}` says so.
package struct FleetAudit: Sendable {
    /// The entries that the export has, by what identifies them.
    private var known: Set<Key> = []
    private var last: UInt64?

    /// After a restore, another entry can have the number of an earlier one.
    private struct Key: Hashable {
        var sequence: UInt64
        var verb: String
        var by: String
        var at: Int64

        init(_ entry: FleetLogEntry) {
            (sequence, verb, by, at) = (entry.sequence, entry.verb, entry.by, entry.at)
        }
    }

    /// The number of entries that the end of an export must have, to know those of the log.
    package static var length: Int { FleetOperator.logLength }

    /// - Parameter lines: The last lines of the export; those that are no entries are passed over.
    package init(_ lines: some Sequence<ArraySlice<UInt8>>) {
        for line in lines { if let entry = try? FleetLogEntry(Array(line)) { note(entry) } }
    }

    private mutating func note(_ entry: FleetLogEntry) {
        known.insert(Key(entry))
        last = entry.sequence
    }

    /// Returns the lines to append for keys below `log/`, the oldest first.
    package mutating func append(_ pairs: [EtcdKeyValue]) -> [[UInt8]] {
        let entries = pairs.compactMap { try? FleetLogEntry($0.value) }.sorted { $0.sequence < $1.sequence }
        var lines: [[UInt8]] = []
        for entry in entries {
            if known.contains(Key(entry)) {
                last = entry.sequence
                continue
            }
            // An adopted store goes on with a number of its own.
            if let last, entry.sequence > last, entry.sequence - last > 1, entry.verb != "adopt" {
                lines.append(Self.missing(after: last, before: entry.sequence))
            }
            note(entry)
            lines.append(entry.bytes)
        }
        return lines
    }

    private static func missing(after last: UInt64, before next: UInt64) -> [UInt8] {
        let numbers = JSON.object([("after", .unsigned(last)), ("before", .unsigned(next))])
        return [("missing", numbers)].line
    }

    /// The numbers between which entries are missing, if a line says so.
    package static func missing(_ line: ArraySlice<UInt8>) -> (after: UInt64, before: UInt64)? {
        guard let fields = try? FleetFields(Array(line), max: 4_096), let numbers = fields.optional("missing"),
            let after = numbers["after"]?.wholeNumber, let before = numbers["before"]?.wholeNumber
        else { return nil }
        return (after, before)
    }
}
