// Measures find, complete and mistyped paths among 100,000 tweaks, and their effect on another session.

import Tweaks
import TweaksServer

enum FindBenchmarks {
    private static let queries = [
        "find size", "find shadow opacity", "find 4711", "find lbl", "find radius of", "find one of many", "find tweak",
        "find e", "find nothing-like-it", "find collection 7 blur", "find text/shadow", "find \"border width\" pt",
    ]
    private static let completions = [
        "complete se", "complete \"set \"", "complete \"set Cat\"", "complete \"set 'Category 3/Coll\"",
        "complete \"get 'Category 3/Collection 7/Sha\"", "complete \"get category\"", "complete \"get nothing\"",
    ]
    private static let mistyped = [
        "get \"Category 3/Collection 7/Shadow Radios 17\"", "get Sahdow", "get Catgory", "get \"xyz/xyz/xyz\"",
        "set \"Categroy 3/Colection 7/Blur Size 1\" 7", "get nothing-like-it-anywhere",
    ]

    static func run() throws {
        let registry = TweakRegistry()
        fill(registry)
        let server = TweakServer(name: "find", registry: registry, listeners: [.tcp(port: 0)])
        try server.start()
        defer { server.stop() }
        let port = UInt16(server.port ?? 0)
        let seeker = try Connection(port: port)
        let first = try Measure.nanoseconds { try ask(seeker, "find size") }
        Table.row("the first find, which makes the index, 100,000 tweaks", value: first / 1e6, unit: "ms", goal: "–")
        try report("find in 100,000 tweaks", queries, seeker, goal: "p50 ≤ 10 ms")
        try report("complete in 100,000 tweaks", completions, seeker, goal: "p50 ≤ 5 ms")
        try report("a path mistyped in 100,000 tweaks", mistyped, seeker, goal: "p50 ≤ 10 ms")
        for (name, lines) in [("find", queries), ("complete", completions), ("mistyped", mistyped)] {
            try Contention.report("ping while another session asks (\(name))", port: port, pings: 1_000) { greedy in
                for line in lines { try ask(greedy, line) }
            }
        }
    }

    private static func report(_ name: String, _ lines: [String], _ connection: Connection, goal: String) throws {
        var times: [Double] = []
        for _ in 0..<10 {
            for line in lines { times.append(try Measure.nanoseconds { try ask(connection, line) } / 1e6) }
        }
        Table.row("\(name), p50", value: Measure.median(times), unit: "ms", goal: goal)
        Table.row("\(name), the slowest", value: times.max() ?? 0, unit: "ms", goal: "–")
    }

    private static func ask(_ connection: Connection, _ line: String) throws {
        try connection.send(Array("\(line)\n".utf8))
        try connection.receiveStatuses(1)
    }

    private static func fill(_ registry: TweakRegistry) {
        let things = ["Shadow", "Border", "Label", "Corner", "Blur", "Text", "Grid", "Spring", "Fade", "Glow"]
        let names = ["Size", "Radius", "Opacity", "Width", "Color Mix", "Delay", "Offset", "Speed", "Scale", "Weight"]
        for number in 0..<100_000 {
            _ = Tweak(
                "Category \(number / 5_000)", "Collection \(number / 100 % 50)",
                "\(things[number % 10]) \(names[number / 10 % 10]) \(number)", Double(number), in: 0...1e6,
                unit: "pt", help: "One of many, the \(things[number / 7 % 10].lowercased()) of it", registry: registry)
        }
    }
}
