// Runs `state check`: says what a program would read of a state directory, and what not.

import Tweaks
import TweaksBackup
import TweaksSystem

/// `state check DIR`: it reads files, changes nothing, and connects to no process.
struct StateCommand: Equatable {
    static let usage = "state check DIR"

    let path: String

    /// - Parameter words: The words after `state`.
    init(_ words: [String]) throws(Failure) {
        guard words.count == 2, words[0] == "check", !words[1].isEmpty else {
            throw Failure(.usage, "state: use tweakctl \(Self.usage)")
        }
        path = words[1]
    }

    func run(_ console: Console) throws(Failure) -> ExitCode {
        let report: StateReport
        do throws(FileProblem) {
            report = try StateReport(Folder(path))
        } catch {
            throw StateFailure.of(
                error, "state", remedy: "name a state directory, as its owner or as root; storageFile of stats is in it"
            )
        }
        if console.isJSON {
            console.print([json(report)])
        } else {
            console.print(lines(report))
            console.reportProblems(report)
        }
        return report.hasProblems ? .refused : .ok
    }

    private func lines(_ report: StateReport) -> [String] {
        let width = report.files.map(\.name.count).max() ?? 0
        var lines: [String] = []
        for file in report.files {
            let format = file.format.map { "format \($0)" }
            let content = file.content.isEmpty ? nil : file.content
            let parts = [format, content, file.problems.isEmpty ? nil : "not all of it can be read"].compactMap(\.self)
            let name = Quoting.sanitized(file.name)
            let start = name + String(repeating: " ", count: max(0, width - name.count) + 2)
            lines.append(parts.isEmpty ? start + (file.remarks.first ?? "") : start + parts.joined(separator: ", "))
            lines += file.remarks.dropFirst(parts.isEmpty ? 1 : 0).map { "  \($0)" }
        }
        if report.hasProblems { return lines }
        return lines + [report.files.isEmpty ? "ok: there is nothing to read" : "ok: all of it would be read"]
    }

    private func json(_ report: StateReport) -> String {
        let files = report.files.map { file in
            JSON.object([
                ("file", .string(file.name)), ("format", file.format.map { .int($0) } ?? .null),
                ("count", .count(file.count)), ("problems", .array(file.problems.map { .string($0) })),
                ("remarks", .array(file.remarks.map { .string($0) })),
            ])
        }
        let own: [(String, JSON)] = [
            ("ok", .bool(!report.hasProblems)), ("directory", .string(path)), ("files", .array(files)),
        ]
        let error = JSON.object([
            ("code", .string(ExitCode.refused.name)), ("message", .string("state: not all of it would be read")),
        ])
        return JSON.object(own + report.fields + (report.hasProblems ? [("error", error)] : [])).text
    }
}

extension Console {
    /// Prints what would not be read of a state.
    func reportProblems(_ report: StateReport) {
        for file in report.files { for problem in file.problems { reportProblem("\(file.name): \(problem)") } }
    }
}

extension StateReport {
    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    /// `3 overrides, 8 commits and 1 preset`.
    var summary: String {
        "\(Self.counted(overrideCount, "override")), \(Self.counted(commits, "commit")) and "
            + Self.counted(presetCount, "preset")
    }

    /// The same for `--json`.
    var fields: [(String, JSON)] {
        [
            ("overrides", .count(overrideCount)), ("commits", .count(commits)), ("presets", .count(presetCount)),
            ("revision", revision.map { .count($0) } ?? .null),
        ]
    }
}

/// The errors of the commands about states.
enum StateFailure {
    /// The error of a file.
    /// - Parameter remedy: For all faults but those that have one of their own in any case.
    static func of(_ problem: FileProblem, _ verb: String, remedy: String) -> Failure {
        let own: String? =
            switch problem.fault {
            case .kind(.link), .kind(.directory): problem.remedy
            case .mode: "chmod 700 it"
            case .failed(let error) where error.isLocked: "its process replaces it all the time; try again"
            case .failed(let error) where [ENOSPC, EDQUOT, EMFILE, ENFILE].contains(error.code): error.remedy()
            default: nil
            }
        let path = Quoting.sanitized(problem.path)
        return Failure(
            .refused, "\(verb): \(path): \(problem.reason) (\(problem.operation)); \(own ?? remedy)")
    }
}
