// Presets in the folder `presets` of the state directory, each a file of its own.

import Synchronization
package import Tweaks
package import TweaksSystem

/// Lists, reads, writes and removes presets. May be used on any thread; several processes may read: a file is replaced
/// as a whole, and the folder is opened anew each time, so that no process holds a view of its own. Only the process that
/// has the state directory changes them.
package final class PresetFolder: PresetStore {
    /// How much there may be.
    package struct Limits: Sendable {
        /// How many presets.
        package var presets = 1_000
        /// How many bytes one may have.
        package var bytes = 16_777_216

        package init() {}
    }

    static let folderName = "presets"
    static let ending = ".conf"

    let place: Result<String, StatePlace.Problem>
    let files: any FileSystem
    let limits: Limits
    private let program: String
    private let time: any StorageTime
    private let holder: @Sendable () -> String?
    /// What was found in files that have not changed since.
    private let known = Mutex<[String: (facts: FileFacts, summary: PresetSummary)]>([:])

    /// Nothing is touched yet.
    /// - Parameters:
    ///   - directory: The state directory, or why there is no place for one.
    ///   - program: What the files say whose they are.
    ///   - limits: How much there may be.
    ///   - holder: Which other process has the state directory, and alone may write there; nil for none.
    package init(
        directory: Result<String, StatePlace.Problem>, program: String, limits: Limits = Limits(),
        fileSystem: any FileSystem = PosixFileSystem(), time: any StorageTime = SystemTime(),
        holder: @escaping @Sendable () -> String? = { nil }
    ) {
        (place, files, self.program, self.limits, self.time) = (directory, fileSystem, program, limits, time)
        self.holder = holder
    }

    // MARK: Listing

    package func list() throws(TweakError) -> [PresetSummary] {
        guard let folder = try open(making: false) else { return [] }
        return try names(in: folder).map { summary($0, in: folder) }
    }

    package func names() -> [String] {
        guard let folder = try? open(making: false) else { return [] }
        return ((try? names(in: folder)) ?? []).map(\.text)
    }

    private func names(in folder: Folder) throws(TweakError) -> [PresetName] {
        let found = try doing("the presets cannot be listed", try folder.names())
        return found.filter { $0.hasSuffix(Self.ending) }
            .compactMap { try? PresetName(String($0.dropLast(Self.ending.count))) }.sorted()
    }

    /// One that cannot be read is in the list, too: with the reason.
    private func summary(_ name: PresetName, in folder: Folder) -> PresetSummary {
        var summary = PresetSummary(name: name)
        do throws(TweakError) {
            let facts = try? folder.facts(Self.file(name))
            if let facts, let old = known.withLock({ $0[name.text] }), old.facts == facts { return old.summary }
            let preset = try read(name, in: folder)
            summary.heading = preset.heading
            (summary.tweaks, summary.badLines) = (preset.entries.count, preset.problems.count)
            if let facts { known.withLock { $0[name.text] = (facts, summary) } }
        } catch {
            summary.failure = error.message
        }
        return summary
    }

    // MARK: Reading

    package func read(_ name: PresetName) throws(TweakError) -> Preset {
        guard let folder = try open(making: false) else { throw missing(name, []) }
        return try read(name, in: folder)
    }

    private func read(_ name: PresetName, in folder: Folder) throws(TweakError) -> Preset {
        let content = try doing(
            "the preset \(name) cannot be read", try folder.content(of: Self.file(name), limit: limits.bytes))
        guard let content else { throw missing(name, (try? names(in: folder)) ?? []) }
        return try PresetFile.preset(content.bytes, name: name)
    }

    private func missing(_ name: PresetName, _ names: [PresetName]) -> TweakError {
        let near = Spelling.nearest(to: name.text, among: names.map(\.text))
        return TweakError(
            .badValue,
            "there is no preset \(Quoting.excerpt(name.text)); "
                + (near.map { "did you mean \($0)?" } ?? "presets lists what there is"), isMissing: true)
    }

    // MARK: Changing

    /// Refuses where another process has the directory.
    private func checkHolder(_ trouble: String) throws(TweakError) {
        guard let holder = holder() else { return }
        throw TweakError(
            .io,
            "\(trouble): the state directory is used by \(holder); do it there, or give this process its own "
                + "TWEAKS_STATE_DIR")
    }

    @discardableResult
    package func write(
        _ draft: PresetDraft, as name: PresetName, mayReplace: Bool = true
    ) throws(TweakError) -> PresetSummary? {
        try checkHolder("the preset \(name) is not saved")
        let bytes = PresetFile.bytes(draft, program: program, at: time.wall)
        if bytes.count > limits.bytes {
            throw TweakError(
                .tooLong,
                "the preset \(name) would have \(bytes.count) bytes; at most \(limits.bytes): save fewer tweaks, by a "
                    + "pattern", limit: .presetBytes)
        }
        guard let folder = try open(making: true) else { throw missing(name, []) }
        let names = try names(in: folder)
        if !mayReplace, names.contains(name) { throw draft.refusal(name) }
        let before = names.contains(name) ? summary(name, in: folder) : nil
        if before == nil, names.count >= limits.presets {
            throw TweakError(
                .tooMany, "there are \(names.count) presets already; delete one of them", limit: .presets)
        }
        removeLeftovers(folder, now: time.wall)
        // Another writer of this name, in whatever process, must have another file.
        let temporary = ".\(Self.file(name)).\(String(UInt64.random(in: .min ... .max), radix: 16)).tmp"
        let trouble = "the preset \(name) is not saved"
        try doing(trouble, try folder.replace(Self.file(name), with: bytes, temporary: temporary))
        try doing(trouble, try folder.flush())
        return before
    }

    package func delete(_ name: PresetName) throws(TweakError) {
        try checkHolder("the preset \(name) is not deleted")
        guard let folder = try open(making: false) else { throw missing(name, []) }
        if (try? folder.facts(Self.file(name))) == nil { throw missing(name, try names(in: folder)) }
        let trouble = "the preset \(name) is not deleted"
        try doing(trouble, try folder.remove(Self.file(name)))
        try doing(trouble, try folder.flush())
        known.withLock { $0[name.text] = nil }
    }

    private static func file(_ name: PresetName) -> String { name.text + ending }
}
