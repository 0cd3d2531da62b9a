// Measures what the guide “What it costs” promises: swift run -c release TweaksBenchmarks [GROUP…]
//
// Each row is a ratio of two values measured in turn in the same run. Groups: read set history scale find wire watch
// durable reload temporary tweakctl crowd fan-out access panel fleet.
//
// TweaksBenchmarks instructions [FILE] counts instructions under callgrind, and fails above the budgets of the file.
//
// TweaksBenchmarks soak --minutes N [--seed S] [--sessions N] looks for leaks of a server under many sessions, and
// TweaksBenchmarks fleet-soak --minutes N [--processes N] [--seed S] for leaks and wrong values in a fleet.

import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())

if arguments.first == "serve" {
    try ServedTweaks.serve()
} else if arguments.first == "serve-default" {
    try ServedTweaks.serveDefault(arguments.dropFirst().first)
} else if arguments.count == 2, arguments[0] == "commits", let count = Int(arguments[1]) {
    try ServedTweaks.commits(count)
    exit(0)
} else if arguments.count == 2, arguments[0] == "fleet-changes", let count = Int(arguments[1]) {
    try ServedFleet.change(count)
    exit(0)
} else if arguments.first == "instructions" {
    // The second argument is the file of the budgets.
    Table.heading("instructions")
    exit(try InstructionBenchmarks.run(budgets: arguments.dropFirst().first) ? 0 : 1)
} else if arguments.first == "serve-durable", arguments.count == 2 {
    try ServedTweaks.serveDurable(arguments[1])
} else if arguments.first == "serve-panel", arguments.count == 2, let count = Int(arguments[1]) {
    try ServedTweaks.servePanel(tweaks: count)
} else if arguments == ["serve-texts"] {
    try ServedTweaks.serve(texts: 40)
} else if arguments.first == "readers", arguments.count == 2, let port = UInt16(arguments[1]) {
    try TextReaders.run(port: port)
} else if arguments.first == "crowd", arguments.count == 2, let port = UInt16(arguments[1]) {
    try NoisyClients.run(port: port)
} else if arguments.first == "serve-many", arguments.count == 2, let count = Int(arguments[1]) {
    try ServedTweaks.serveMany(count)
} else if arguments.first == "deaf-watchers", arguments.count == 3, let port = UInt16(arguments[1]),
    let count = Int(arguments[2])
{
    try DeafWatchers.run(port: port, count: count)
} else if arguments.first == "serve-fleet", arguments.count == 2 {
    try ServedFleet.serve(arguments[1])
} else if arguments.first == "follow-fleet", arguments.count == 4, let count = Int(arguments[1]) {
    try ServedFleet.follow(count, arguments[2], arguments[3])
} else if arguments.first == "fleet-soak" {
    guard let soak = FleetSoak(Array(arguments.dropFirst())) else {
        print("usage: TweaksBenchmarks fleet-soak --minutes N [--processes N] [--seed S]")
        exit(2)
    }
    exit(try soak.run() ? 0 : 1)
} else if arguments.first == "soak-clients", var clients = SoakClients(Array(arguments.dropFirst())) {
    clients.run()
} else if arguments.first == "soak" {
    guard let soak = Soak(Array(arguments.dropFirst())) else {
        print("usage: TweaksBenchmarks soak --minutes N [--seed S] [--sessions N]")
        exit(2)
    }
    exit(try soak.run() ? 0 : 1)
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
    ("crowd", CrowdBenchmarks.run),
    ("fan-out", FanOutBenchmarks.run),
    ("access", AccessBenchmarks.run),
    ("panel", PanelBenchmarks.run),
    ("fleet", FleetBenchmarks.run),
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
