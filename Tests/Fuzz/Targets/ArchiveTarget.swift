// Fuzzes archives of a state: what is accepted has names of a state alone, and survives a round trip.

import Tweaks
import TweaksBackup

/// An archive. The first byte selects whether the checksums of its headers are corrected, which a fuzzer cannot guess.
enum ArchiveTarget {
    static func run(_ bytes: [UInt8]) throws(Finding) {
        guard let choice = bytes.first else { return }
        var text = Array(bytes.dropFirst())
        if choice & 1 == 1 { correct(&text) }
        guard let archive = try? StateArchive(text) else { return }
        // All files can be examined.
        _ = StateReport(archive.files)
        guard let again = try? StateArchive(archive.bytes) else { throw Finding("the written archive is rejected") }
        try expect(again.program == archive.program, "\(archive.program) becomes \(again.program)")
        try expect(
            again.files.elementsEqual(archive.files) { $0.file == $1.file && $0.bytes == $1.bytes },
            "the files \(archive.files.map(\.file.name)) become \(again.files.map(\.file.name))")
        for (file, _) in archive.files {
            let parts = file.name.split(separator: "/")
            try expect(
                parts.count == 1 || parts.count == 2 && parts[0] == "presets", "\(file.name) leads elsewhere")
            try expect(!parts.contains { $0.hasPrefix(".") }, "\(file.name) is hidden")
        }
    }

    /// Writes the sum of each block that may be a header into it.
    private static func correct(_ bytes: inout [UInt8]) {
        var start = 0
        while bytes.count - start >= 512 {
            if bytes[(start + 257)..<(start + 262)].elementsEqual("ustar".utf8) {
                for position in 148..<156 { bytes[start + position] = 32 }
                let sum = bytes[start..<(start + 512)].reduce(0) { $0 + Int($1) }
                let digits = String(sum, radix: 8)
                let field = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
                bytes.replaceSubrange((start + 148)..<(start + 154), with: Array(field.utf8))
                bytes[start + 154] = 0
            }
            start += 512
        }
    }
}
