// Measures what the README promises: swift run -c release TweaksBenchmarks [GROUP…]
//
// Each row is a ratio of two figures taken in turn in the same run. Groups: read set history scale find wire watch durable
// reload temporary tweakctl access.

import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())

if arguments.first == "serve" {
    try ServedTweaks.serve()
} else if arguments.first == "serve-durable", arguments.count == 2 {
    try ServedTweaks.serveDurable(arguments[1])
}

let groups: [(name: String, run: () throws -> Void)] = [
    ("read", ReadBenchmarks.run),
    ("set", SetBenchmarks.run),
    ("history", HistoryBenchmarks.run),
    ("scale", ScaleBenchmarks.run),
    ("find", FindBenchmarks.run),
    ("wire", WireBenchmarks.run),
    ("watch", WatchBenchmarks.run),
    ("durable", DurableBenchmarks.run),
    ("reload", ReloadBenchmarks.run),
    ("temporary", TemporaryBenchmarks.run),
    ("tweakctl", TweakctlBenchmarks.run),
    ("access", AccessBenchmarks.run),
]
let wanted = arguments.isEmpty ? groups.map(\.name) : arguments
for name in wanted {
    guard let group = groups.first(where: { $0.name == name }) else {
        print("there is no group \(name); use \(groups.map(\.name).joined(separator: " "))")
        exit(2)
    }
    Table.heading(group.name)
    try group.run()
}
