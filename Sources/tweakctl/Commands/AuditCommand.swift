// Runs the command `audit`: verifies the hash chain of audit files, line by line.

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
        guard words.first == "verify" else { throw Failure(.usage, "audit: use tweakctl \(Self.usage)") }
        var (rest, paths, head): (ArraySlice<String>, [String], String?) = (words.dropFirst(), [], nil)
        while let word = rest.popFirst() {
            if word == "--head" {
                guard head == nil, let link = rest.popFirst(), AuditChain.isLink(link.utf8) else {
                    throw Failure(
                        .usage, "audit: --head takes one link of 64 hexadecimal digits, as auditHead of stats shows it")
                }
                head = link
            } else if word.hasPrefix("-") {
                throw Invocation.notAnOption(word, of: "audit", ["--head"], or: "use tweakctl \(Self.usage)")
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

/// Follows the links of an audit through its files, oldest first, and collects what is wrong.
struct AuditVerifier {
    /// The maximum number of problems that are described.
    private static let maxProblems = 20

    /// What contradicts the chain.
    private(set) var problems: [String] = []
    private(set) var problemCount = 0
    /// The number of linked lines.
    private(set) var lines = 0
    /// The link of the last line; nil before the first one.
    private(set) var head: [UInt8]?
    /// The number of lines before the chain begins, of earlier versions.
    private var unlinked = 0
    private var chainBegins = ""
    private var torn: [String] = []
    private var restored = 0
    /// The link that the first line follows.
    private var firstAfter = AuditChain.start
    /// The last links of files that the audit itself has removed, with the line that says so, and its number.
    private var removed: [[UInt8]: (place: String, line: Int)] = [:]
    /// The link that was noted elsewhere, the line that has it, and the number of lines after that.
    private let noted: [UInt8]?
    private var found: (place: String, later: Int)?

    init(head noted: [UInt8]?) { self.noted = noted }

    /// Checks the next line.
    /// - Parameter place: Its file and line number.
    mutating func read(_ bytes: ArraySlice<UInt8>, at place: String) {
        guard let line = AuditChain.Line(bytes) else { return readUnlinked(bytes, at: place) }
        lines += 1
        check(line, at: place)
        head = line.link
        found?.later += 1
        if line.link == noted { found = (place, 0) }
        if line.body.contains(Self.fromHistory) { restored += 1 }
        if line.body.contains(Self.dropped), let link = JSON(String(decoding: bytes, as: UTF8.self))?["last"]?.string {
            removed[Array(link.utf8)] = (place, lines)
        }
    }

    private mutating func check(_ line: AuditChain.Line, at place: String) {
        if let head {
            if let after = line.after, after != head {
                report(
                    "\(place): does not follow the line before it, but one with the link \(Self.text(after)): the "
                        + "lines between were removed, or the files are not in order")
            } else if !line.follows(head) {
                report("\(place): was changed, or the lines before it were removed or reordered")
            }
            return
        }
        chainBegins = place
        guard let after = line.after else {
            return report("\(place): is not the first line of its file: the beginning was removed")
        }
        firstAfter = after
        if !line.follows(after) { report("\(place): was changed") }
    }

    private mutating func readUnlinked(_ bytes: ArraySlice<UInt8>, at place: String) {
        let isWhole = bytes.first == UInt8(ascii: "{") && bytes.last == UInt8(ascii: "}")
        if !isWhole {
            torn.append(place)
        } else if head == nil {
            unlinked += 1
        } else {
            report("\(place): has no link: it was added, or changed")
        }
    }

    /// Checks what only the end shows.
    mutating func finish() {
        if head == nil { report("no line has a link: an audit of this version has one in each") }
        if head != nil, firstAfter != AuditChain.start, removed[firstAfter] == nil {
            report(
                "\(chainBegins): follows a line with the link \(Self.text(firstAfter)), which is in none of the files; if "
                    + "older ones were moved away, name them, too, oldest first")
        }
        if let noted, found == nil {
            report(
                "no line has the link \(Self.text(noted)): lines were removed or changed since it was noted, or a crash of "
                    + "the machine has lost them")
        }
    }

    private mutating func report(_ problem: String) {
        problemCount += 1
        if problems.count < Self.maxProblems { problems.append(problem) }
    }

    /// What is worth knowing, and wrong with nothing.
    var remarks: [String] {
        var remarks: [String] = []
        if unlinked > 0 {
            let lines = Self.count(unlinked, "line")
            remarks.append("the chain begins at \(chainBegins); \(lines) before it cannot be verified")
        }
        if firstAfter != AuditChain.start, let said = removed[firstAfter] {
            let isLater = found.map { said.line > lines - $0.later } ?? false
            remarks.append(
                "older files were removed by the audit itself, as \(said.place) says"
                    + (isLater ? ", after the given link, which does not vouch for it" : ""))
        }
        if !torn.isEmpty {
            let places = torn.prefix(3).joined(separator: ", ") + (torn.count > 3 ? ", …" : "")
            remarks.append("\(Self.count(torn.count, "torn line")), from a crash or a full disk: \(places)")
        }
        if restored > 0 {
            remarks.append("\(Self.count(restored, "line")) restored from the history after a crash")
        }
        if let found {
            let later = found.later == 0 ? "the last line" : "followed by \(Self.count(found.later, "line"))"
            remarks.append("the given link is that of \(found.place), \(later)")
        }
        return remarks
    }

    static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    static func text(_ link: [UInt8]) -> String { String(decoding: link, as: UTF8.self) }

    private static let fromHistory = Array("\"from\":\"history\"".utf8)
    private static let dropped = Array("\"kind\":\"dropped\"".utf8)
}

extension ArraySlice<UInt8> {
    /// Whether it has these bytes in it.
    fileprivate func contains(_ part: [UInt8]) -> Bool {
        guard count >= part.count else { return false }
        return (startIndex...(endIndex - part.count)).contains { start in
            self[start] == part[0] && self[start...].starts(with: part)
        }
    }
}
