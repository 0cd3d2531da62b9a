// Renames full files of the audit, and removes those that are old where there are too many.

import Tweaks
import TweaksSystem
import TweaksWire

/// Something that the audit has no longer, or never had.
package enum AuditLoss: Sendable, Equatable {
    /// A file that was removed: it had this many bytes, of this span of time.
    case file(path: String, bytes: Int64, from: String?, to: String)
    /// So many lines, for which there is no room before something grows old.
    case lines(Int, path: String)

    /// What the file says of it that comes next.
    func line(at wall: Int64) -> [UInt8] {
        guard case .file(let path, let bytes, let from, let to) = self else { return [] }
        var line: [UInt8] = []
        line.append("{\"time\":\"\(TimeText.print(wall))\",\"kind\":\"dropped\",\"file\":")
        line.append(json: path)
        line.append(",\"bytes\":\(bytes)")
        if let from { line.append(",\"from\":\"\(from)\"") }
        line.append(",\"to\":\"\(to)\"}\n")
        return line
    }
}

extension AuditFile {
    /// Renames the file, and those before it, so that the next one begins empty; and removes those that need not be
    /// kept any longer. Where another process that writes there has done so, it only lets go of the file.
    mutating func rotate(_ directory: Folder) throws(StorageFailure) -> [AuditLoss] {
        let isOurs = try lock(directory)
        defer { close() }
        if !isOurs { return [] }
        // After a rotation that failed half way there is a gap: what lies behind that has moved already, and would be lost.
        let gap = olderFiles(directory) + 1
        for number in stride(from: gap, to: 0, by: -1) {
            let older = older(number - 1)
            do throws(FileProblem) {
                try directory.rename(older, to: self.older(number))
            } catch {
                // Not so many were filled yet.
                if !error.isMissing { throw failure(error) }
            }
        }
        rotations += 1
        return removeOld(directory)
    }

    /// Whether another file would be one too many for the ceiling, and none is old enough to go.
    func isFull(_ directory: Folder) -> Bool {
        let count = olderFiles(directory)
        let (size, isTooMuch) = settings.maximumSize.multipliedReportingOverflow(by: count + 2)
        guard isTooMuch || size > ceiling, count > 0 else { return false }
        return !isOld(count, directory)
    }

    /// Names begin with the file itself, which has no number.
    func older(_ number: Int) -> String { number == 0 ? name : "\(name).\(number)" }

    /// How many there are before the first gap.
    private func olderFiles(_ directory: Folder) -> Int {
        var count = 0
        while facts(count + 1, directory) != nil { count += 1 }
        return count
    }

    private func facts(_ number: Int, _ directory: Folder) -> FileFacts? { try? directory.facts(older(number)) }

    // MARK: Age

    private func removeOld(_ directory: Folder) -> [AuditLoss] {
        var losses: [AuditLoss] = []
        var number = olderFiles(directory)
        while number > settings.keep, isOld(number, directory) {
            let loss = AuditLoss.file(
                path: "\(path).\(number)", bytes: facts(number, directory)?.size ?? 0,
                from: begin(number, directory).map { TimeText.print($0) }, to: TimeText.print(end(number, directory)))
            // It is tried again when the next one is full.
            guard (try? directory.remove(older(number))) != nil else { break }
            losses.append(loss)
            number -= 1
        }
        return losses
    }

    /// Whether it need not be kept any longer.
    private func isOld(_ number: Int, _ directory: Folder) -> Bool {
        let age = Duration.milliseconds(time.wall - end(number, directory))
        return age >= settings.minimumAge
    }

    /// When its last line was written, at the latest: when the file began that came after it. Times of files would be
    /// those of a copy, or of a restored backup.
    private func end(_ number: Int, _ directory: Folder) -> Int64 {
        if let next = begin(number - 1, directory) { return next }
        // The file itself may be still to come.
        if number == 1, facts(0, directory) == nil { return time.wall }
        return facts(number, directory).map { $0.modified / 1_000_000 } ?? time.wall
    }

    /// The time of its first line.
    private func begin(_ number: Int, _ directory: Folder) -> Int64? {
        let file = try? directory.open(older(number), for: .reading, FileRules(.anyone))
        guard let bytes = try? file?.head(34) else { return nil }
        let head = String(decoding: bytes, as: UTF8.self)
        guard head.hasPrefix("{\"time\":\"") else { return nil }
        return TimeText.parse(String(head.dropFirst(9).prefix { $0 != "\"" }))
    }
}
