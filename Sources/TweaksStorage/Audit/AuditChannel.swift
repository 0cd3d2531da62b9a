// Writes audit lines to one of the two audit files, and retries failures.

import Tweaks

/// An audit file, its pending lines, and its retry state.
struct AuditChannel {
    private var file: AuditFile
    private var lines = AuditLineBuffer()
    private var folds: AuditFolds
    private let bytesPerDay: Int
    /// The reading of the last day's lines; nil when it is over.
    private var recovery: AuditRecovery?
    private let shipper: AuditShipper?
    private var retry: Retry
    private let time: any StorageTime
    private let onEvent: @Sendable (AuditTrail.Event) -> Void
    /// The last reported failure; nil after a success.
    private var reported: StorageFailure?
    /// The last reported exposure to other users.
    private var reportedExposure: String?
    /// Whether lines lost for lack of space were reported.
    private var hasReportedFull = false
    private(set) var failures = 0
    private(set) var dropped: Int64 = 0
    private(set) var leftOut = 0

    /// The maximum buffered bytes while writing fails.
    private static let maxPendingBytes = 8_388_608

    /// - Parameter bytesPerDay: What an origin may write on one day before it is refused.
    init(
        _ file: AuditFile, bytesPerDay: Int = .max, _ shipper: AuditShipper?, _ time: any StorageTime,
        onEvent: @escaping @Sendable (AuditTrail.Event) -> Void
    ) {
        self.file = file
        self.shipper = shipper
        self.time = time
        self.onEvent = onEvent
        self.bytesPerDay = bytesPerDay
        folds = AuditFolds(bytesPerDay: bytesPerDay)
        if let shipper { self.file.onLine = { shipper.ship($0) } }
        retry = Retry(time, first: .milliseconds(100), longest: .seconds(30))
    }

    /// Whether all lines are in the file.
    var isWritten: Bool { lines.isEmpty }
    /// The number of lines that are not in the file.
    var waiting: Int { lines.count }
    var rotations: Int { file.rotations }
    var folded: Int { folds.folded }
    /// Why writing fails; nil if it does not.
    var failure: StorageFailure? { reported }
    /// The link of the last line; nil before the first one.
    var head: String? { file.head.map { String(decoding: $0, as: UTF8.self) } }
    /// The origins that have written as much as they may on one day, and until when.
    var exhausted: [String: ContinuousClock.Instant] { folds.budgets.exhausted }

    /// When there is something to do; nil for never.
    var next: ContinuousClock.Instant? {
        recovery != nil ? time.now : retry.next(hasUpdates: false) ?? folds.next
    }

    /// Adds noted items.
    mutating func add(_ items: some Sequence<AuditItem>, _ anchor: TimeAnchor, leftOut text: [UInt8] = []) {
        var bytes: [UInt8] = []
        for item in items { folds.add(item, anchor, to: &bytes) }
        append(bytes + text)
    }

    /// Ends folds that are due, and moves their lines and those about losses to the pending ones.
    mutating func endFolds(_ anchor: TimeAnchor, isLast: Bool) {
        var bytes: [UInt8] = []
        folds.end(time.now, isLast: isLast, anchor, to: &bytes)
        for lost in shipper?.takeLost() ?? [] { AuditLineEncoder.append(notShipped: lost, at: anchor.wall, to: &bytes) }
        append(bytes)
    }

    /// Writes pending lines if they are due.
    mutating func write(isLast: Bool = false) {
        let isDue = retry.next(hasUpdates: false).map { $0 <= time.now } ?? true
        if isLast ? !lines.isEmpty : isDue && (!lines.isEmpty || reported != nil) { attempt() }
    }

    /// Writes pending lines; without any, it opens the file, so that problems are found early.
    mutating func attempt() {
        do throws(StorageFailure) {
            if lines.isEmpty { try file.open() } else { try file.write(&lines) }
            if reported != nil { onEvent(.recovered(path: file.path)) }
            reported = nil
            retry.succeeded()
            if let exposure = file.exposure, exposure != reportedExposure {
                onEvent(.exposed(path: file.path, reason: exposure))
            }
            reportedExposure = file.exposure
        } catch {
            failures += 1
            if reported != error { onEvent(.failed(reason: error.sentence)) }
            reported = error
            retry.failed()
        }
        for loss in file.takeLosses() { note(loss) }
    }

    /// The progress recorded at the end of the file; nil if it has none.
    var progress: AuditProgress? { file.progress }

    /// Begins to count what clients wrote today before this run.
    mutating func beginRecovery(_ anchor: TimeAnchor) {
        recovery = AuditRecovery(file, bytesPerDay: bytesPerDay, anchor)
    }

    /// Reads the next slice of the last day's lines, and counts them once all are read.
    /// - Returns: Whether they are counted now.
    mutating func continueRecovery() -> Bool {
        recovery?.advance()
        guard let done = recovery, done.isComplete else { return false }
        recovery = nil
        folds.add(earlier: done.budgets, time.now)
        return true
    }

    /// The digest of the config file's values at an earlier start; see ``AuditStart``.
    var lastStart: String? { file.lastStart }

    /// Whether nothing was ever written.
    var isNew: Bool { lines.isEmpty && file.isNew }

    mutating func close() { file.close() }

    /// Appends encoded lines.
    mutating func append(_ bytes: [UInt8]) {
        if lines.byteCount + bytes.count > Self.maxPendingBytes, !lines.isEmpty {
            leftOut += bytes.count { $0 == UInt8(ascii: "\n") }
        } else {
            lines.append(bytes)
        }
    }

    private mutating func note(_ loss: AuditLoss) {
        switch loss {
        case .file(_, let bytes, _, _, _):
            dropped += bytes
            hasReportedFull = false
        case .lines(let count, _):
            leftOut += count
            if hasReportedFull { return }
            hasReportedFull = true
        }
        onEvent(.lost(loss))
    }
}
