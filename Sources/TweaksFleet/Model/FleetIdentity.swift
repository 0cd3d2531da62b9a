// Finds out who a process is in its fleet: what it is given, what it has kept, or somebody new.

import Tweaks
import TweaksSystem

/// A process's ID and labels, and whether it has them for good.
package struct FleetIdentity: Hashable, Sendable {
    package let instance: FleetInstance
    /// It is another one after a restart.
    package let isUnstable: Bool

    private static let file = "instance-id"

    /// - Parameters:
    ///   - given: The ID, where one is given.
    ///   - directory: The state directory, where this process has its lock.
    package init(_ given: String?, labels: Labels, directory: String?) {
        if let given {
            (instance, isUnstable) = (FleetInstance(id: given, labels: labels), false)
            return
        }
        let kept = directory.flatMap { Self.kept(in: $0) }
        instance = FleetInstance(id: kept ?? Self.random, labels: labels)
        isUnstable = kept == nil
    }

    /// The ID in the directory, which is made where there is none.
    private static func kept(in directory: String) -> String? {
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

    /// 64 bits are enough to meet no other of a million, nearly always.
    private static var random: String {
        let digits = String(UInt64.random(in: 0 ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
