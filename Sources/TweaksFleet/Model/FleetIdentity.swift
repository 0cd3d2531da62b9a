// Determines the ID of a process in its fleet: configured, saved, or new.

import Tweaks
import TweaksSystem

/// A process's ID and labels, and whether the ID survives a restart.
package struct FleetIdentity: Hashable, Sendable {
    package let instance: FleetInstance
    /// The ID changes with each restart.
    package let isUnstable: Bool

    private static let file = "instance-id"

    /// - Parameters:
    ///   - given: The configured ID, if any.
    ///   - directory: The state directory, locked by this process.
    package init(_ given: String?, labels: Labels, directory: String?) {
        if let given {
            (instance, isUnstable) = (FleetInstance(id: given, labels: labels), false)
            return
        }
        let saved = directory.flatMap { Self.savedID(in: $0) }
        instance = FleetInstance(id: saved ?? Self.random, labels: labels)
        isUnstable = saved == nil
    }

    /// Reads the ID saved in the directory; creates one if there is none.
    private static func savedID(in directory: String) -> String? {
        guard let folder = try? Folder(directory) else { return nil }
        if let content = try? folder.content(of: file, limit: 1_024) {
            let line = content.bytes.last == UInt8(ascii: "\n") ? content.bytes.dropLast() : content.bytes[...]
            let text = String(decoding: line, as: UTF8.self)
            if FleetInstance.isID(text) { return text }
        }
        let new = random
        do throws(FileProblem) {
            try folder.replace(file, with: Array("\(new)\n".utf8))
        } catch {
            return nil
        }
        return new
    }

    /// With 64 bits, collisions among a million processes are very unlikely.
    private static var random: String {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
