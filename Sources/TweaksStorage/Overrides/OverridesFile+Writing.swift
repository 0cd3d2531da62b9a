// Encodes the overrides file with one line per override, so that a change is one line in a diff.

import Tweaks
import TweaksWire

extension OverridesFile {
    /// The file with these sorted lines and the quarantined entries.
    static func text(
        program: String, revision: UInt64, lines: some Collection<[UInt8]>, quarantined: [[UInt8]] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.reduce(160 + program.utf8.count) { $0 + $1.count + 6 })
        bytes.append("{\n  \"format\": \"\(format)\",\n  \"version\": \(version),\n  \"program\": ")
        bytes.append(json: program)
        bytes.append(",\n  \"revision\": ")
        bytes.append(decimal: revision)
        bytes.append(",\n  \"overrides\": ")
        bytes.append(list: lines)
        if !quarantined.isEmpty {
            bytes.append(",\n  \"setAside\": ")
            bytes.append(list: quarantined)
        }
        bytes.append("\n}\n")
        return bytes
    }

    /// The line of one override; nil for a value without an exact text, which no tweak can have.
    static func line(_ entry: StoredEntry, _ anchor: TimeAnchor) -> [UInt8]? {
        guard case .value(let value) = entry.content else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(192)
        bytes.append("{\"path\": ")
        bytes.append(json: entry.path.joined)
        let covered = entry.covered.flatMap { $0.kind == value.kind || [$0, value].contains(.notSet) ? $0 : nil }
        StoredKind([value, covered])?.append(to: &bytes, space: " ")
        bytes.append(", \"value\": ")
        guard bytes.append(stored: value) else { return nil }
        bytes.append(", \"origin\": ")
        bytes.append(json: entry.origin.description)
        bytes.append(", \"time\": \"\(TimeText.print(anchor.milliseconds(entry.time)))\"")
        if let covered {
            let end = bytes.count
            bytes.append(", \"covered\": ")
            if !bytes.append(stored: covered) { bytes.removeLast(bytes.count - end) }
        }
        if let expires = entry.expires {
            bytes.append(", \"expires\": \"\(TimeText.print(anchor.milliseconds(expires)))\"")
        }
        bytes.append("}")
        return bytes
    }
}

extension [UInt8] {
    /// Appends a list with one element per line.
    fileprivate mutating func append(list lines: some Collection<[UInt8]>) {
        var separator = "[\n    "
        for line in lines {
            append(separator)
            append(contentsOf: line)
            separator = ",\n    "
        }
        append(lines.isEmpty ? "[]" : "\n  ]")
    }
}
