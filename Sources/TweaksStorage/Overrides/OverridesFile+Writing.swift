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
        bytes.append(", \"kind\": \"\(value.kind.rawValue)\", \"value\": ")
        guard bytes.append(stored: value) else { return nil }
        bytes.append(", \"origin\": ")
        bytes.append(json: entry.origin.description)
        bytes.append(", \"time\": \"\(TimeText.print(anchor.milliseconds(entry.time)))\"")
        if let covered = entry.covered, covered.kind == value.kind {
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

    /// Appends a text in quotes. Most are plain, and are copied.
    mutating func append(json text: String) {
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
        guard isPlain else { return append(Quoting.json(text)) }
        append(0x22)
        append(text)
        append(0x22)
    }

    /// Appends a value; false, and nothing appended, where it has no exact text.
    mutating func append(stored value: TweakValue) -> Bool {
        switch value {
        case .bool(let value): append(value ? "true" : "false")
        case .int(let value): append(decimal: value)
        case .unsigned(let value): append(decimal: value)
        case .number(let value):
            if !value.isFinite { return false }
            append(value == 0 && value.sign == .minus ? "-0.0" : TweakValue.shortest(value))
        case .string(let text), .choice(let text): append(json: text)
        case .color(let color): append(json: color.description)
        case .duration(let duration):
            guard let nanoseconds = duration.exactNanoseconds else { return false }
            append(json: DurationText.print(nanoseconds))
        }
        return true
    }
}
