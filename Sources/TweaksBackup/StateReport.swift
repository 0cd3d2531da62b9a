// Says of each file of a state what would be read of it, and what not, with the reason and the remedy.

import Tweaks
package import TweaksStorage
package import TweaksSystem

/// What a program of this version would read of a state.
package struct StateReport: Sendable {
    /// One file.
    package struct File: Sendable {
        package let name: String
        /// The version of its format; nil if it has none, or cannot be read.
        package var format: Int64?
        /// What it has: `3 overrides, revision 8`.
        package var content = ""
        /// How many values, commits or lines would be read.
        package var count = 0
        /// Whether nothing of it would be read.
        package var isRefused = false
        /// What would not be read: the reason, and the remedy.
        package var problems: [String] = []
        /// What is worth knowing, and no loss.
        package var remarks: [String] = []
    }

    package private(set) var files: [File] = []
    /// The revision of the overrides; nil without a file that can be read.
    package private(set) var revision: UInt64?
    /// The overrides as they are written, by their keys.
    private var overrides: [OverrideKey: [UInt8]] = [:]
    private var presets: [PresetName: [UInt8]] = [:]
    /// The number of commits in the history.
    package private(set) var commits = 0

    package var overrideCount: Int { overrides.count }
    package var presetCount: Int { presets.count }
    package var hasProblems: Bool { files.contains { !$0.problems.isEmpty } }
    /// Whether there are overrides, or a history, of which nothing would be read.
    package var isRefused: Bool { files.contains(where: \.isRefused) }

    /// Examines files that are in memory.
    /// - Parameter time: The time at which they would be read, for temporary overrides.
    package init(_ contents: [StateFileContent], time: some StorageTime = SystemTime()) {
        let anchor = TimeAnchor(time)
        for (file, bytes) in contents {
            switch file {
            case .overrides: files.append(examineOverrides(bytes, anchor, now: time.now))
            case .history: files.append(examineHistory(bytes, anchor))
            case .config: files.append(Self.examineConfig(bytes))
            case .preset(let name):
                presets[name] = bytes
                files.append(Self.examinePreset(bytes, name))
            }
        }
    }

    /// Examines a directory. Nothing in it is changed.
    package init(_ folder: Folder, time: some StorageTime = SystemTime()) throws(FileProblem) {
        let state = try StateFiles(folder)
        self.init(state.contents, time: time)
        for problem in state.problems {
            add("it would not be read: \(problem.reason); \(problem.remedy)", to: problem.name)
        }
        for name in state.others { addOther(name, folder) }
    }

    private mutating func add(_ problem: String, to name: String) {
        if !files.contains(where: { $0.name == name }) { files.append(File(name: name)) }
        for index in files.indices where files[index].name == name { files[index].problems.append(problem) }
    }

    // MARK: Overrides

    private mutating func examineOverrides(_ bytes: [UInt8], _ anchor: TimeAnchor, now: Moment) -> File {
        var report = File(name: StateFile.overrides.name)
        let file: OverridesFile
        do throws(OverridesFile.Refusal) {
            file = try OverridesFile(bytes, anchor)
        } catch {
            report.refuse(error, version: OverridesFile.version)
            return report
        }
        revision = file.revision
        overrides = Dictionary(file.entries.map { ($0.key, $0.text) }) { first, _ in first }
        report.format = OverridesFile.version
        report.count = file.entries.count { $0.stored != nil }
        report.content = "\(Self.count(report.count, "override")), revision \(file.revision)"
        report.problems = file.rejected.map {
            "\($0.reason); the entry is ignored, and kept under “setAside”: correct it, and move it back while the program "
                + "is stopped"
        }
        for entry in file.entries where entry.stored == nil {
            report.problems.append(
                "\(entry.path.token) is of a kind that this version does not know; it is kept in the file: a version "
                    + "that knows the kind applies it")
        }
        let old = file.allQuarantined.count - file.rejected.count
        if old > 0 { report.remarks.append("\(Self.count(old, "entry", "entries")) set aside by an earlier run") }
        let expired = file.entries.count { entry in entry.stored?.expires.map { $0 <= now } ?? false }
        if expired > 0 {
            report.remarks.append("\(Self.count(expired, "temporary override")) expired: dropped at a start")
        }
        return report
    }

    // MARK: Other files

    private mutating func examineHistory(_ bytes: [UInt8], _ anchor: TimeAnchor) -> File {
        var report = File(name: StateFile.history.name)
        let history: HistoryDecoder
        do throws(OverridesFile.Refusal) {
            history = try HistoryDecoder(bytes, anchor, upTo: revision)
        } catch {
            report.refuse(error, version: HistoryFormat.version)
            return report
        }
        commits = history.records.count
        report.format = HistoryFormat.version
        report.count = commits
        report.content = Self.count(commits, "commit")
        if history.laterCount > 0 {
            report.remarks.append(
                "what \(Self.count(history.laterCount, "commit")) set after the revision of the overrides is left out at a "
                    + "start, as after a crash between the two writes")
        }
        if history.endsMidLine { report.remarks.append("the last line is cut, by a crash or a running write") }
        return report
    }

    private static func examineConfig(_ bytes: [UInt8]) -> File {
        var report = File(name: StateFile.config.name)
        let file = ConfigFile(bytes, name: report.name, listedProblems: 1)
        report.count = file.entries.count
        report.content = count(report.count, "line") + " of the config file"
        if let problem = file.problems.first {
            report.problems = [
                "line \(problem.line): \(problem.error.message); the next start does not know how the config file has "
                    + "changed: remove it"
            ]
        }
        return report
    }

    private static func examinePreset(_ bytes: [UInt8], _ name: PresetName) -> File {
        var report = File(name: StateFile.preset(name).name)
        do throws(TweakError) {
            let preset = try PresetFile.preset(bytes, name: name)
            report.format = Int64(PresetFile.version)
            report.count = preset.entries.count
            report.content = count(report.count, "line")
            report.problems = preset.problems.map { "line \($0.line): \($0.error.message)" }
        } catch {
            report.problems = [error.message]
        }
        return report
    }

    // MARK: Files that are not copied

    private mutating func addOther(_ name: String, _ folder: Folder) {
        if name.hasPrefix("fleet-"), name.hasSuffix(".json") { return files.append(Self.examineFleet(name, folder)) }
        var report = File(name: name)
        let remarks: [(part: String, remark: String)] = [
            (".unreadable-", "set aside by an earlier run: correct it, and move it back while the program is stopped"),
            (".before-restore-", "kept by a restore; remove it when it is no longer needed"),
            (".tmp", "left by a write that a crash has ended; it is ignored"),
        ]
        guard let remark = remarks.first(where: { name.has($0.part) })?.remark else { return }
        report.remarks = [remark]
        files.append(report)
    }

    /// The last good values of a fleet, which the module of the fleet reads. They come again from etcd.
    private static func examineFleet(_ name: String, _ folder: Folder) -> File {
        var report = File(name: name)
        let content = try? folder.content(of: name, limit: 64 << 20, FileRules(.anyone))?.bytes
        let lines = content?.split(separator: UInt8(ascii: "\n")) ?? []
        let words = lines.first.map { String(decoding: $0, as: UTF8.self).split(separator: " ") } ?? []
        let remedy = "the values come again from etcd"
        guard lines.count == 2, words.count == 4, words.prefix(2) == ["tweaks", "fleet"], let format = Int64(words[2]),
            let json = try? JSON(Array(lines[1]))
        else {
            report.problems = ["it cannot be read: it is damaged, or cut short; \(remedy)"]
            return report
        }
        if format > 1 {
            report.problems = ["\(StorageFailure.newer(format, than: 1)); run that version, or \(remedy)"]
            return report
        }
        report.format = format
        report.count = json["keys"]?.elements.count ?? 0
        report.content = "\(count(report.count, "key")) of a fleet"
        return report
    }

    static func count(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
        "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
    }
}

extension StateReport.File {
    /// Notes why the whole file is not read.
    fileprivate mutating func refuse(_ refusal: OverridesFile.Refusal, version own: Int64) {
        isRefused = true
        switch refusal {
        case .malformed(let reason):
            problems = [
                "\(reason); nothing of it is read, and a start keeps it as \(name).unreadable-TIME: correct it while the "
                    + "program is stopped, or restore a backup"
            ]
        case .newerVersion(let version):
            format = version
            problems = [
                "\(StorageFailure.newer(version, than: own)); nothing of it is read, and it is left alone: run that version"
            ]
        }
    }
}

extension String {
    /// Whether it has a part in it.
    fileprivate func has(_ part: String) -> Bool {
        utf8.indices.contains { utf8[$0...].starts(with: part.utf8) }
    }
}

// MARK: - Differences

extension StateReport {
    /// How one state differs from another.
    package struct Difference: Equatable, Sendable {
        package var added = 0
        package var changed = 0
        package var removed = 0
    }

    /// What becomes of the overrides where this state replaces another.
    package func overrideChanges(from old: StateReport) -> Difference { Self.difference(old.overrides, overrides) }

    /// The same for presets.
    package func presetChanges(from old: StateReport) -> Difference { Self.difference(old.presets, presets) }

    private static func difference<Key>(_ old: [Key: [UInt8]], _ new: [Key: [UInt8]]) -> Difference {
        var difference = Difference()
        for (key, bytes) in new {
            guard let before = old[key] else {
                difference.added += 1
                continue
            }
            if before != bytes { difference.changed += 1 }
        }
        difference.removed = old.keys.count { new[$0] == nil }
        return difference
    }
}
