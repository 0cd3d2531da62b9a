// Tests that the comparison runs and prints all its parts; its figures mean nothing here.

import Foundation
import NeighborsTestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct CompareTests {
    private static let titles = [
        "reading a number", "get, 1 connection, one at a time", "set, 1 connection, one at a time",
        "get, 1 connection, 32 in flight", "set, 1 connection, 32 in flight", "set → watcher",
        "set that is on disk when it is answered",
    ]

    /// Runs the comparison with few rounds, and returns its lines.
    private func lines(path: String? = nil) throws -> [String] {
        let words = path.map { ["/usr/bin/env", "PATH=\($0)"] } ?? []
        let ended = try end(of: words + [built("compare"), "--quick"])
        #expect(ended.code == 0, "\(ended)")
        let text = ended.output
        return text.split(separator: "\n").map(String.init)
    }

    /// The names of the rows, with a colon after a title.
    private func names(_ lines: [String]) -> [String] {
        lines.dropFirst(2).map { line in
            let name = String(line.prefix(46)).trimmingCharacters(in: .whitespaces)
            return line.hasPrefix(" ") ? name : name + ":"
        }
    }

    @Test func `It tells date and machine, and each part has a row of ours`() throws {
        let lines = try lines()
        #expect(lines.first?.wholeMatch(of: /\d{4}-\d{2}-\d{2}/) != nil)
        #expect(lines.dropFirst().first?.contains("cores, Linux") == true)
        let names = names(lines)
        #expect(names.filter { $0.hasSuffix(":") } == Self.titles.map { $0 + ":" })
        #expect(names.filter { $0 == "Tweaks" }.count == Self.titles.count)
        for line in lines.dropFirst(2) where line.hasPrefix("  Tweaks ") { #expect(line.hasSuffix(" 1.00")) }
    }

    @Test func `What is not installed is left out with a word`() throws {
        let names = names(try lines(path: "/nowhere"))
        let missing = [
            "redis-server", "memcached", "haproxy", "etcd",
        ].map { program in names.filter { $0.hasPrefix("\(program) is not installed; it is") }.count }
        #expect(missing == [6, 4, 4, 2])
    }

    #if DEBUG
        @Test func `A debug build refuses to measure`() throws {
            let ended = try end(of: [built("compare")])
            #expect(ended.code == 1 && ended.errors.contains("use swift run -c release compare"), "\(ended)")
        }
    #endif
}
