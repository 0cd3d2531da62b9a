// The overrides file, written: one line for each override, so that a change is one line of difference.

import Tweaks
import TweaksWire

extension OverridesFile {
    /// The file for these lines, which are in order, and for what is set aside.
    static func text(
        program: String, revision: UInt64, lines: some Collection<[UInt8]>, aside: [[UInt8]] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.reduce(160 + program.utf8.count) { $0 + $1.count + 6 })
        bytes.append("{\n  \"format\": \"\(format)\",\n  \"version\": \(version),\n  \"program\": ")
        bytes.append(json: program)
        bytes.append(",\n  \"revision\": ")
        bytes.append(decimal: revision)
        bytes.append(",\n  \"overrides\": ")
        bytes.append(list: lines)
        if !aside.isEmpty {
            bytes.append(",\n  \"setAside\": ")
            bytes.append(list: aside)
        }
        bytes.append("\n}\n")
        return bytes
    }

    /// The line of one override; nil for a value that the file has no form for, which no tweak can have either.
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
    /// Appends a list, each of its elements a line.
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
