// Parses the command `audit`, and verifies audit files.

import Tweaks
import TweaksSystem
import TweaksWire

/// `audit verify`: it reads files, and connects to no process.
struct AuditCommand: Equatable {
    let paths: [String]
    /// The link that was noted elsewhere, as `stats` or the system's log shows it.
    let head: String?

    static let usage = "audit verify FILE… [--head LINK]"
    /// A longer line is no line of an audit.
    private static let maxLineBytes = 67_108_864

    init(paths: [String], head: String? = nil) { (self.paths, self.head) = (paths, head) }

    /// - Parameter words: The words after `audit`.
    init(_ words: [String]) throws(Failure) {
        guard words.first == "verify" else { throw Failure(.usage, "audit: write tweakctl \(Self.usage)") }
        var (rest, paths, head): (ArraySlice<String>, [String], String?) = (words.dropFirst(), [], nil)
        while let word = rest.popFirst() {
            if word == "--head" {
                guard head == nil, let link = rest.popFirst(), AuditChain.isLink(link.utf8) else {
                    throw Failure(
                        .usage, "audit: --head takes one link of 64 hexadecimal digits, as auditHead of stats shows it")
                }
                head = link
            } else if word.hasPrefix("-") {
                throw Failure(
                    .usage, "audit: \(Quoting.excerpt(word)) is not an option; write tweakctl \(Self.usage)")
            } else {
                paths.append(word)
            }
        }
        if paths.isEmpty {
            throw Failure(.usage, "audit: name the file of the audit: tweakctl \(Self.usage)")
        }
        self.init(paths: paths, head: head)
    }

    func run(_ console: Console) throws(Failure) -> ExitCode {
        var verifier = AuditVerifier(head: head.map { Array($0.utf8) })
        // One file stands for its older ones, too.
        let files = paths.count == 1 ? try Self.withOlder(paths[0]) : paths
        for file in files { try Self.read(file, &verifier) }
        verifier.finish()
        let (count, problems) = (verifier.problemCount, verifier.problems)
        for problem in problems { console.reportProblem(problem) }
        if count > problems.count { console.reportProblem("… and \(count - problems.count) more") }
        let link = verifier.head.map { AuditVerifier.text($0) } ?? ""
        let sum = "\(AuditVerifier.count(verifier.lines, "line")) in \(AuditVerifier.count(files.count, "file"))"
        if console.isJSON {
            let json = JSON.object([
                ("ok", .bool(count == 0)), ("lines", .count(verifier.lines)), ("files", .count(files.count)),
                ("head", .string(link)), ("problems", .array(problems.map(JSON.string))),
                ("remarks", .array(verifier.remarks.map(JSON.string))),
            ])
            var bytes: [UInt8] = []
            json.append(to: &bytes)
            console.print([String(decoding: bytes, as: UTF8.self)])
        } else if count == 0 {
            console.print(["ok: \(sum), unbroken"] + verifier.remarks.map { "  \($0)" } + ["head \(link)"])
        }
        return count == 0 ? .ok : .refused
    }

    // MARK: Files

    private static let remedy = "name the file of an audit that this user can read"

    /// The file after those that rotation has renamed, oldest first.
    static func withOlder(_ path: String) throws(Failure) -> [String] {
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(path)
            let numbers = try folder.names().compactMap { other in
                other.hasPrefix(name + ".") ? Int(other.dropFirst(name.utf8.count + 1)) : nil
            }
            return numbers.filter { $0 > 0 }.sorted(by: >).map { "\(path).\($0)" } + [path]
        } catch {
            throw failure(path, error)
        }
    }

    private static func read(_ path: String, _ verifier: inout AuditVerifier) throws(Failure) {
        let file = try open(path)
        let name = path.split(separator: "/").last.map { String($0) } ?? path
        var (rest, number): ([UInt8], Int) = ([], 0)
        while true {
            guard let chunk = System.read(file.descriptor) else {
                throw Failure(
                    .refused, "audit: \(Quoting.excerpt(path)) cannot be read: \(errorText()); \(Self.remedy)")
            }
            if chunk.isEmpty { break }
            // Only the new bytes are searched: a long line without an end takes no time for each of its chunks.
            var lines = chunk.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let beginning = lines.removeLast()
            for line in lines {
                number += 1
                rest += line
                if !rest.isEmpty { verifier.read(rest[...], at: "\(name):\(number)") }
                rest.removeAll(keepingCapacity: true)
            }
            rest += beginning
            if rest.count > maxLineBytes {
                let place = "\(Quoting.excerpt(path)), line \(number + 1)"
                throw Failure(.refused, "audit: \(place) is too long for an audit; name the file of one")
            }
        }
        // A line without its line feed is torn, even if it looks whole.
        if !rest.isEmpty { verifier.read(rest.dropLast(), at: "\(name):\(number + 1)") }
    }

    private static func open(_ path: String) throws(Failure) -> OpenFile {
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(path)
            return try folder.open(name, for: .readingThroughLinks, FileRules(.anyone))
        } catch {
            throw failure(path, error)
        }
    }

    private static func failure(_ path: String, _ problem: FileProblem) -> Failure {
        let name = Quoting.sanitized(path)
        if problem.isPathMissing {
            return Failure(
                .refused,
                "audit: \(name) does not exist; name the file that TWEAKS_AUDIT names, which tweakctl NAME stats shows as "
                    + "auditFile; of one that was moved away, name each part, oldest first")
        }
        guard let error = problem.error else { return Failure(.refused, "audit: \(problem)") }
        let remedy =
            [EACCES, EPERM].contains(error.code)
            ? "verify it as its owner or as root" : "check the disk, or name a copy"
        return Failure(.refused, "audit: \(name) cannot be read: \(error.text); \(remedy)")
    }
}
