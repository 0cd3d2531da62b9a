// Implements the command audit: the log as lines for a file, which a restart continues.

import Tweaks
import TweaksFleet
import TweaksSystem

extension FleetClient {
    /// Prints what the file on standard output lacks; with `--follow` until it is interrupted.
    func audit() async throws(FleetRefusal) -> ExitCode {
        let (lines, isCut) = ExportFile.tail()
        var audit = FleetAudit(lines)
        // A crash can leave a line cut, and the next one must not continue it.
        if isCut { console.output.print([""]) }
        var revision = try await appendAll(to: &audit)
        guard arguments.has(.follow) else { return .ok }
        System.succeedOnInterrupt()
        var failures = 0
        while !Output.hasNoReader {
            do {
                for try await message in fleet.etcd.watch(.prefix(keys.log), from: revision + 1) {
                    failures = 0
                    guard case .events(let header, let events) = message else { continue }
                    revision = max(revision, events.last?.pair.modRevision ?? header.revision)
                    print(audit.append(events.filter { $0.kind == .put }.map(\.pair)))
                    if Output.hasNoReader { return .ok }
                }
                throw EtcdError.unavailable("the watch has ended")
            } catch {
                failures += 1
                try await pause(after: error, failures)
                // A restored store can be at a lower revision, and a compacted one has dropped what was not seen.
                revision = (try? await appendAll(to: &audit)) ?? revision
            }
        }
        return .ok
    }

    private func appendAll(to audit: inout FleetAudit) async throws(FleetRefusal) -> Int64 {
        let log = try await fleet.readLog()
        print(audit.append(log.keys))
        return log.header.revision
    }

    /// Waits for an etcd that does not answer, however long: an export is started once and runs for years.
    private func pause(after error: any Error, _ failures: Int) async throws(FleetRefusal) {
        let refusal = FleetRefusal(error as? EtcdError ?? .unavailable("\(error)"))
        if case .compacted? = error as? EtcdError { return }
        if refusal.kind != .unreachable { throw refusal }
        if failures == 1 { console.output.printRemark("\(refusal.description); trying again") }
        try? await Task.sleep(for: .seconds(1))
    }

    private func print(_ lines: [[UInt8]]) { console.output.print(lines.map { String(decoding: $0, as: UTF8.self) }) }
}

/// The file that standard output is appended to, if it is one.
enum ExportFile {
    /// Where the search for the last lines begins; usually an entry has less than a kilobyte.
    private static let firstBytes = 1 << 20
    /// The last 200 entries of the largest imports.
    private static let maxBytes = 256 << 20

    /// The last complete lines of the file, at least those of the log's length, and whether one without an end follows.
    static func tail() -> (lines: [ArraySlice<UInt8>], isCut: Bool) {
        var size = firstBytes
        while true {
            // Opened again, because standard output itself may only be written.
            guard let file = try? Folder.anywhere.open("/dev/fd/1", for: .readingThroughLinks, FileRules(.anyone)),
                let bytes = try? file.tail(size)
            else { return ([], false) }
            let lines = bytes.split(separator: 0x0A)
            // The first line is cut, unless the file begins with it.
            if lines.count > FleetAudit.length + 1 || bytes.count < size || size >= maxBytes {
                return (lines, bytes.last.map { $0 != 0x0A } ?? false)
            }
            size *= 4
        }
    }
}
