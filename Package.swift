// swift-tools-version: 6.2
// Declares the package: typed values that can be changed while a process runs. No dependencies.
import PackageDescription

let package = Package(
    name: "Tweaks",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Tweaks", targets: ["Tweaks"]),
        .library(name: "TweaksServer", targets: ["TweaksServer"]),
        .library(name: "TweaksPanel", targets: ["TweaksPanel"]),
        .library(name: "TweaksDaemon", targets: ["TweaksDaemon"]),
        .library(name: "TweaksFleet", targets: ["TweaksFleet"]),
        .library(name: "TweaksFleetOperator", targets: ["TweaksFleetOperator"]),
        .library(name: "TweaksFoundation", targets: ["TweaksFoundation"]),
        .library(name: "TweaksTesting", targets: ["TweaksTesting"]),
        .executable(name: "tweakctl", targets: ["tweakctl"]),
        .executable(name: "tweakctl-fleet", targets: ["tweakctl-fleet"]),
    ],
    traits: [
        .default(enabledTraits: ["Panel"]),
        .trait(name: "Panel", description: "The web page, and HTTP for programs.", enabledTraits: ["Server"]),
        .trait(name: "Server", description: "What TweakDaemon.start starts: sockets, overrides on disk, config file."),
        .trait(
            name: "Frozen", description: "Tweaks are constants: reads compile to their defaults, nothing is served."),
    ],
    targets: [
        // The registry: standard library, Synchronization and Observation only.
        .target(name: "Tweaks"),
        // The protocol as a pure codec: bytes ⇄ lines ⇄ requests ⇄ replies.
        .target(name: "TweaksWire", dependencies: ["Tweaks"]),
        // Header-only: what the Swift overlay of Linux does not import.
        .target(name: "CTweaksLinux"),
        // The C library under one name, threads, files, terminals and other system calls, without Foundation.
        .target(
            name: "TweaksSystem",
            dependencies: ["Tweaks", .target(name: "CTweaksLinux", condition: .when(platforms: [.linux, .android]))]),
        // Overrides on disk, the config file and its reload.
        .target(name: "TweaksStorage", dependencies: ["Tweaks", "TweaksWire", "TweaksSystem"]),
        // Copies of the state of a process, for tweakctl alone.
        .target(name: "TweaksBackup", dependencies: ["Tweaks", "TweaksSystem", "TweaksStorage"]),
        // The settings and events of a program's server and daemon; no server.
        .target(name: "TweaksInterface", dependencies: ["Tweaks", "TweaksSystem"]),
        // Sockets, sessions and the command table.
        .target(name: "TweaksServer", dependencies: ["Tweaks", "TweaksWire", "TweaksSystem", "TweaksInterface"]),
        // The web page, and HTTP for it and for programs.
        .target(
            name: "TweaksPanel",
            dependencies: [
                "Tweaks", "TweaksWire", "TweaksSystem", "TweaksInterface", "TweaksStorage", "TweaksServer",
                "CTweaksPanelFiles",
            ]),
        // The page and openapi.json, embedded by the C compiler.
        .target(
            name: "CTweaksPanelFiles", path: "Sources/TweaksPanelFiles",
            exclude: ["page", "openapi.json", "embedded_file.h"]),
        // One call that starts files, sockets and the panel.
        .target(
            name: "TweaksDaemon",
            dependencies: [
                "Tweaks", "TweaksSystem", "TweaksInterface",
                .target(name: "TweaksWire", condition: .when(traits: ["Server"])),
                .target(name: "TweaksStorage", condition: .when(traits: ["Server"])),
                .target(name: "TweaksServer", condition: .when(traits: ["Server"])),
                .target(name: "TweaksPanel", condition: .when(traits: ["Panel"])),
            ]),
        // Desired values of many processes in etcd, and the follower of them. The one module with an HTTP client.
        .target(
            name: "TweaksFleet",
            dependencies: ["Tweaks", "TweaksWire", "TweaksSystem", "TweaksInterface", "TweaksStorage"]),
        // URL, Date, Decimal and other types of Foundation as values. The one library that imports Foundation.
        .target(name: "TweaksFoundation", dependencies: ["Tweaks"]),
        // Values for the length of a test: the one library that imports Testing, linked by tests alone.
        .target(name: "TweaksTesting", dependencies: ["Tweaks"]),
        // Swift source with new defaults, for tweakctl alone.
        .target(name: "TweaksBake", dependencies: ["Tweaks", "TweaksSystem"]),
        // The client: it uses the wire protocol, and does not import the server.
        .executableTarget(
            name: "tweakctl",
            dependencies: ["Tweaks", "TweaksWire", "TweaksSystem", "TweaksStorage", "TweaksBackup", "TweaksBake"]),
        // The operator's client of a fleet, a library so that a program can run it with TLS of its own.
        .target(
            name: "TweaksFleetOperator",
            dependencies: [
                "Tweaks", "TweaksWire", "TweaksSystem", "TweaksInterface", "TweaksStorage", "TweaksServer",
                "TweaksPanel", "TweaksFleet",
                "CTweaksFleetPanelFiles",
            ]),
        // What the page of a fleet adds to the panel, embedded by the C compiler.
        .target(
            name: "CTweaksFleetPanelFiles", path: "Sources/TweaksFleetPanelFiles",
            exclude: ["page", "embedded_file.h"]),
        // The program that `tweakctl fleet` runs.
        .executableTarget(name: "tweakctl-fleet", dependencies: ["TweaksSystem", "TweaksFleetOperator"]),

        // No products name the examples: `swift run hello` works in this package, and a package that depends on this one
        // may have programs of these names. Declared products would be built there, in the place of its own.
        .executableTarget(name: "hello", dependencies: ["TweaksDaemon"], path: "Examples/hello"),
        .executableTarget(
            name: "patient", dependencies: ["TweaksDaemon", "TweaksFoundation"], path: "Examples/patient"),
        .executableTarget(name: "features", dependencies: ["TweaksDaemon"], path: "Examples/features"),
        .executableTarget(name: "bounce", dependencies: ["TweaksDaemon", "TweaksFleet"], path: "Examples/bounce"),
        .executableTarget(
            name: "fleet", dependencies: ["TweaksDaemon", "TweaksFleet"], path: "Examples/fleet",
            exclude: ["demo.sh", "tweaks-drive@.service"]),
        .executableTarget(
            name: "throttled", dependencies: ["TweaksDaemon", "TweaksFleet"], path: "Examples/throttled",
            exclude: ["throttled.conf", "throttled.service"]),

        .target(
            name: "TweaksTestSupport", dependencies: ["Tweaks", "TweaksInterface", "TweaksServer", "TweaksStorage"],
            path: "Tests/TweaksTestSupport"),
        .testTarget(name: "TweaksTests", dependencies: ["Tweaks", "TweaksStorage", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksFoundationTests",
            dependencies: [
                "Tweaks", "TweaksStorage", "TweaksServer", "TweaksDaemon", "TweaksFoundation", "TweaksTestSupport",
            ]),
        .testTarget(name: "TweaksTestingTests", dependencies: ["Tweaks", "TweaksTesting", "TweaksTestSupport"]),
        .testTarget(name: "TweaksSystemTests", dependencies: ["Tweaks", "TweaksSystem", "TweaksTestSupport"]),
        .testTarget(name: "TweaksWireTests", dependencies: ["Tweaks", "TweaksWire", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksBakeTests", dependencies: ["Tweaks", "TweaksSystem", "TweaksBake", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksStorageTests",
            dependencies: [
                "Tweaks", "TweaksWire", "TweaksSystem", "TweaksStorage", "TweaksBackup", "TweaksTestSupport",
            ],
            exclude: ["Fixtures"]),
        .testTarget(
            name: "TweaksServerTests",
            dependencies: ["Tweaks", "TweaksWire", "TweaksSystem", "TweaksServer", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksPanelTests",
            dependencies: [
                "Tweaks", "TweaksWire", "TweaksStorage", "TweaksServer", "TweaksPanel", "TweaksFoundation",
                "TweaksTestSupport",
            ]),
        .testTarget(
            name: "TweaksDaemonTests",
            dependencies: [
                "Tweaks", "TweaksWire", "TweaksStorage", "TweaksServer", "TweaksPanel", "TweaksDaemon",
                "TweaksFrozenProbe",
                "TweaksCrashProbe", "features", "TweaksTestSupport",
            ]),
        .testTarget(
            name: "TweakctlTests",
            dependencies: [
                "tweakctl", "Tweaks", "TweaksWire", "TweaksStorage", "TweaksBackup", "TweaksServer", "TweaksDaemon",
                "TweaksTestSupport", "tweaks-fuzz",
            ]),
        .testTarget(
            name: "TweaksFleetTests",
            dependencies: [
                "Tweaks", "TweaksWire", "TweaksSystem", "TweaksInterface", "TweaksStorage", "TweaksServer",
                "TweaksPanel", "TweaksDaemon", "TweaksFleet",
                "TweaksFleetOperator", "tweakctl-fleet", "fleet", "TweaksTestSupport", "tweaks-fuzz",
            ]),
        .testTarget(name: "TweaksBounceTests", dependencies: ["bounce", "Tweaks", "TweaksDaemon"]),
        .testTarget(
            name: "TweaksThrottledTests",
            dependencies: ["throttled", "Tweaks", "TweaksWire", "TweaksInterface", "TweaksTestSupport"]),
        // Prints the values that it reads; built with and without the trait Frozen.
        .executableTarget(
            name: "TweaksFrozenProbe", dependencies: ["TweaksListedProbe", "TweaksDaemon"],
            path: "Tests/TweaksFrozenProbe"),
        // A module whose tweaks the probe finds by its list.
        .target(name: "TweaksListedProbe", dependencies: ["Tweaks"], path: "Tests/TweaksListedProbe"),
        // A daemon that tests kill, signal, and run on a full disk.
        .executableTarget(
            name: "TweaksCrashProbe", dependencies: ["Tweaks", "TweaksServer", "TweaksDaemon"],
            path: "Tests/TweaksCrashProbe"),
        // Fuzz targets of the parsers of untrusted bytes, run by .ci/fuzz with libFuzzer, and by the tests with the corpus.
        .executableTarget(
            name: "tweaks-fuzz",
            dependencies: [
                "Tweaks", "TweaksWire", "TweaksStorage", "TweaksBackup", "TweaksServer", "TweaksPanel", "TweaksFleet",
                "TweaksBake",
            ],
            path: "Tests/Fuzz", exclude: ["Corpus", "dictionary.txt"]),
        .testTarget(name: "TweaksFuzzTests", dependencies: ["tweaks-fuzz", "TweaksTestSupport"]),
    ],
    cLanguageStandard: .c2x
)

// swift run -c release TweaksBenchmarks: they count with valgrind and /proc.
#if os(Linux)
    package.targets.append(
        .executableTarget(
            name: "TweaksBenchmarks",
            dependencies: ["Tweaks", "TweaksStorage", "TweaksServer", "TweaksPanel", "TweaksDaemon", "TweaksFleet"],
            path: "Tests/TweaksBenchmarks"))
#endif

// `TWEAKS_TESTS="TweaksTests TweaksWireTests"` builds those tests, the libraries, and the programs that they depend on: the
// thread sanitizer's run in .ci/run builds everything a second time, and leaves out what has one thread.
if let names = Context.environment["TWEAKS_TESTS"] {
    var needed = Set(names.split(separator: " ").map(String.init))
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var unread = needed
    while let name = unread.popFirst() {
        for case .byNameItem(let dependency, _) in targets[name]?.dependencies ?? [] {
            if needed.insert(dependency).inserted { unread.insert(dependency) }
        }
    }
    package.targets.removeAll { [.executable, .test].contains($0.type) && !needed.contains($0.name) }
    let left = Set(package.targets.map(\.name))
    package.products.removeAll { ($0 as? Product.Executable).map { !left.isSuperset(of: $0.targets) } ?? false }
}

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ]
}
