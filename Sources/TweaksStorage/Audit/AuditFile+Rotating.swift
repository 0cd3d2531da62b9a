// Rotates full audit files, and removes old ones above the limit.

import Tweaks
import TweaksSystem
import TweaksWire

/// Audit data that was removed or never written.
package enum AuditLoss: Sendable, Equatable {
    /// A removed file, with its size, its time span, and the link of its last line.
    case file(path: String, bytes: Int64, from: String?, to: String, link: String?)
    /// This many lines did not fit, because no file was old enough to remove.
    case lines(Int, path: String)

    /// The line that records the loss in the next file.
    func line(at wall: Int64) -> [UInt8] {
        guard case .file(let path, let bytes, let from, let to, let link) = self else { return [] }
        var line: [UInt8] = []
        line.append("{\"time\":\"\(TimeText.print(wall))\",\"kind\":\"dropped\",\"file\":")
        line.append(json: path)
        line.append(",\"bytes\":\(bytes)")
        if let from { line.append(",\"from\":\"\(from)\"") }
        line.append(",\"to\":\"\(to)\"")
        if let link { line.append(",\"last\":\"\(link)\"") }
        line.append("}\n")
        return line
    }
}

extension AuditFile {
    /// Renames the locked file and the older ones, so that the next one starts empty, and removes expired files.
    mutating func rotate(_ directory: Folder) throws(StorageFailure) -> [AuditLoss] {
        defer { leave() }
        // A rotation that failed halfway leaves a gap; files after the gap have moved already, and renaming over them
        // would lose them.
        let gap = olderFiles(directory) + 1
        for number in stride(from: gap, to: 0, by: -1) {
            let older = older(number - 1)
            do throws(FileProblem) {
                try directory.rename(older, to: self.older(number))
            } catch {
                // There are fewer files so far.
                if !error.isMissing { throw failure(error, "renaming it") }
            }
        }
        rotations += 1
        return removeOld(directory)
    }

    /// Whether another file would exceed the ceiling and no file is old enough to remove.
    func isFull(_ directory: Folder) -> Bool {
        let count = olderFiles(directory)
        let (size, isTooMuch) = settings.maximumSize.multipliedReportingOverflow(by: count + 2)
        guard isTooMuch || size > ceiling, count > 0 else { return false }
        return !isOld(count, directory)
    }

    /// The file name for a number; the current file has none.
    func older(_ number: Int) -> String { number == 0 ? name : "\(name).\(number)" }

    /// The number of older files before the first gap.
    func olderFiles(_ directory: Folder) -> Int {
        var count = 0
        while fileInfo(count + 1, directory) != nil { count += 1 }
        return count
    }

    func fileInfo(_ number: Int, _ directory: Folder) -> FileInfo? { try? directory.info(older(number)) }

    // MARK: Age

    private func removeOld(_ directory: Folder) -> [AuditLoss] {
        var losses: [AuditLoss] = []
        var number = olderFiles(directory)
        while number > settings.keep, isOld(number, directory) {
            let loss = AuditLoss.file(
                path: "\(path).\(number)", bytes: fileInfo(number, directory)?.size ?? 0,
                from: startTime(number, directory).map { TimeText.print($0) },
                to: TimeText.print(endTime(number, directory)),
                link: AuditChain.lastLink(tail(number, directory)).map { String(decoding: $0, as: UTF8.self) })
            // Tried again at the next rotation.
            guard (try? directory.remove(older(number))) != nil else { break }
            losses.append(loss)
            number -= 1
        }
        return losses
    }

    /// Whether it has reached the minimum age for removal.
    private func isOld(_ number: Int, _ directory: Folder) -> Bool {
        let age = Duration.milliseconds(time.wall - endTime(number, directory))
        return age >= settings.minimumAge
    }

    /// The latest possible time of its last line: the start of the next file. File times are unreliable after a copy or
    /// a restored backup.
    private func endTime(_ number: Int, _ directory: Folder) -> Int64 {
        if let next = startTime(number - 1, directory) { return next }
        // The current file may not exist yet.
        if number == 1, fileInfo(0, directory) == nil { return time.wall }
        return fileInfo(number, directory).map { $0.modified / 1_000_000 } ?? time.wall
    }

    /// The time of its first line.
    func startTime(_ number: Int, _ directory: Folder) -> Int64? {
        let file = try? directory.open(older(number), for: .reading, FileRules(.anyone))
        guard let bytes = try? file?.head(34) else { return nil }
        let head = String(decoding: bytes, as: UTF8.self)
        guard head.hasPrefix("{\"time\":\"") else { return nil }
        return TimeText.parse(String(head.dropFirst(9).prefix { $0 != "\"" }))
    }
}
