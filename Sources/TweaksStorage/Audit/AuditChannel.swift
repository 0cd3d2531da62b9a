// Brings lines to one of the two files of the audit.

import Tweaks

/// A file, the lines that are to be written to it, and when the disk is asked again that refused them.
struct AuditChannel {
    private var file: AuditFile
    private var lines = AuditLines()
    private var folding = AuditFolding()
    private var retry: Retry
    private let time: any StorageTime
    private let onEvent: @Sendable (AuditTrail.Event) -> Void
    /// The failure that was last reported; nil after a success.
    private var reported: StorageFailure?
    /// What was last said about others who can write there.
    private var saidExposure: String?
    /// Lines that found no room on the disk have been said.
    private var hasSaidFull = false
    private(set) var failures = 0
    private(set) var dropped: Int64 = 0
    private(set) var leftOut = 0

    /// While the disk refuses, more than this is not kept.
    private static let mostWaiting = 8_388_608

    init(_ file: AuditFile, _ time: any StorageTime, onEvent: @escaping @Sendable (AuditTrail.Event) -> Void) {
        (self.file, self.time, self.onEvent) = (file, time, onEvent)
        retry = Retry(time, first: .milliseconds(100), most: .seconds(30))
    }

    /// Whether everything is in the file that was given.
    var isWritten: Bool { lines.isEmpty }
    var rotations: Int { file.rotations }
    var folded: Int { folding.folded }
    /// Why it is not written; nil when it is.
    var failure: StorageFailure? { reported }

    /// When there is something to do; nil while there is nothing.
    var next: ContinuousClock.Instant? { retry.next(hasNews: false) ?? folding.next }

    /// Takes what was noted.
    mutating func add(_ items: some Sequence<AuditItem>, _ anchor: TimeAnchor, leftOut text: [UInt8]) {
        var bytes: [UInt8] = []
        folding.forgetEnded(time.now)
        for item in items { folding.add(item, anchor, to: &bytes) }
        append(bytes + text)
    }

    /// Writes what there is, if it is time.
    mutating func write(_ anchor: @autoclosure () -> TimeAnchor, isLast: Bool = false) {
        if isLast || folding.next.map({ $0 <= time.now }) ?? false {
            var bytes: [UInt8] = []
            folding.flush(time.now, isLast: isLast, anchor(), to: &bytes)
            append(bytes)
        }
        let isDue = retry.next(hasNews: false).map { $0 <= time.now } ?? true
        if isLast ? !lines.isEmpty : isDue && (!lines.isEmpty || reported != nil) { attempt() }
    }

    /// Opens the file, so that trouble is known before there is something to write.
    mutating func attempt() {
        do throws(StorageFailure) {
            try file.write(&lines)
            lines = AuditLines()
            if reported != nil { onEvent(.recovered(path: file.path)) }
            reported = nil
            retry.succeeded()
            if let exposure = file.exposure, exposure != saidExposure {
                onEvent(.exposed(path: file.path, reason: exposure))
            }
            saidExposure = file.exposure
        } catch {
            failures += 1
            if reported != error { onEvent(.failed(reason: error.sentence)) }
            reported = error
            retry.failed()
        }
        for loss in file.takeLosses() { note(loss) }
    }

    /// What the end of the file says; nil where that is nothing.
    var end: AuditEnd? { file.end }

    mutating func close() { file.close() }

    /// Takes lines as they are.
    mutating func append(_ bytes: [UInt8]) {
        var bytes = bytes
        AuditLine.append(leftOut: folding.takeLeftOut(), at: time.wall, to: &bytes)
        if lines.bytes.count + bytes.count > Self.mostWaiting, !lines.isEmpty {
            leftOut += bytes.count { $0 == UInt8(ascii: "\n") }
        } else {
            lines.append(bytes)
        }
    }

    private mutating func note(_ loss: AuditLoss) {
        switch loss {
        case .file(_, let bytes, _, _):
            dropped += bytes
            hasSaidFull = false
        case .lines(let count, _):
            leftOut += count
            if hasSaidFull { return }
            hasSaidFull = true
        }
        onEvent(.lost(loss))
    }
}
