// swift-tools-version: 6.2
// Tweaks: typed values that people change while a process runs. No dependencies.
import PackageDescription

let package = Package(
    name: "Tweaks",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Tweaks", targets: ["Tweaks"]),
        .library(name: "TweaksServer", targets: ["TweaksServer"]),
        .library(name: "TweaksPanel", targets: ["TweaksPanel"]),
        .library(name: "TweaksDaemon", targets: ["TweaksDaemon"]),
        .executable(name: "tweakctl", targets: ["tweakctl"]),
        .executable(name: "bounce", targets: ["bounce"]),
        .executable(name: "hello", targets: ["hello"]),
        .executable(name: "patient", targets: ["patient"]),
        .executable(name: "throttled", targets: ["throttled"]),
    ],
    traits: [
        .trait(name: "Frozen", description: "Tweaks are constants: reads compile to their defaults, nothing is served.")
    ],
    targets: [
        // The registry: standard library, Synchronization and Observation only.
        .target(name: "Tweaks"),
        // The protocol as a pure codec: bytes ⇄ lines ⇄ requests ⇄ replies.
        .target(name: "TweaksWire", dependencies: ["Tweaks"]),
        // Header-only: the kernel interfaces that the Swift overlay of Linux does not import.
        .target(name: "CTweaksLinux"),
        // Overrides on disk, the config file and its reload.
        .target(
            name: "TweaksStorage",
            dependencies: [
                "Tweaks", "TweaksWire",
                .target(name: "CTweaksLinux", condition: .when(platforms: [.linux, .android])),
            ]),
        // Sockets, sessions and the command table.
        .target(
            name: "TweaksServer",
            dependencies: [
                "Tweaks", "TweaksWire",
                .target(name: "CTweaksLinux", condition: .when(platforms: [.linux, .android])),
            ]),
        // The web page, and HTTP for it and for programs.
        .target(
            name: "TweaksPanel", dependencies: ["Tweaks", "TweaksWire", "TweaksServer", "CTweaksPanelFiles"]),
        // The page and openapi.json, embedded by the C compiler.
        .target(
            name: "CTweaksPanelFiles", path: "Sources/TweaksPanelFiles", exclude: ["panel.html", "openapi.json"]),
        // One call that introduces them to each other.
        .target(
            name: "TweaksDaemon",
            dependencies: ["Tweaks", "TweaksWire", "TweaksStorage", "TweaksServer", "TweaksPanel"]),
        // The client: it speaks the wire, and knows nothing of servers.
        .executableTarget(name: "tweakctl", dependencies: ["Tweaks", "TweaksWire"]),

        .executableTarget(name: "hello", dependencies: ["Tweaks", "TweaksDaemon"], path: "Examples/hello"),
        .executableTarget(name: "patient", dependencies: ["Tweaks", "TweaksDaemon"], path: "Examples/patient"),
        .executableTarget(name: "bounce", dependencies: ["Tweaks", "TweaksDaemon"], path: "Examples/bounce"),
        .executableTarget(
            name: "throttled", dependencies: ["Tweaks", "TweaksDaemon"], path: "Examples/throttled",
            exclude: ["throttled.conf", "throttled.service"]),

        .target(
            name: "TweaksTestSupport", dependencies: ["Tweaks", "TweaksServer"], path: "Tests/TweaksTestSupport"),
        .testTarget(name: "TweaksTests", dependencies: ["Tweaks", "TweaksTestSupport"]),
        .testTarget(name: "TweaksWireTests", dependencies: ["Tweaks", "TweaksWire", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksStorageTests", dependencies: ["Tweaks", "TweaksWire", "TweaksStorage", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksServerTests", dependencies: ["Tweaks", "TweaksWire", "TweaksServer", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksPanelTests",
            dependencies: ["Tweaks", "TweaksWire", "TweaksServer", "TweaksPanel", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksDaemonTests",
            dependencies: [
                "Tweaks", "TweaksWire", "TweaksStorage", "TweaksServer", "TweaksPanel", "TweaksDaemon", "FrozenProbe",
                "CrashProbe", "TweaksTestSupport",
            ]),
        .testTarget(
            name: "TweakctlTests",
            dependencies: [
                "tweakctl", "Tweaks", "TweaksWire", "TweaksStorage", "TweaksServer", "TweaksDaemon",
                "TweaksTestSupport",
            ]),
        .testTarget(name: "BounceTests", dependencies: ["bounce", "Tweaks", "TweaksDaemon"]),
        .testTarget(
            name: "ThrottledTests", dependencies: ["throttled", "Tweaks", "TweaksWire", "TweaksTestSupport"]),
        // Says what it reads; built with and without the trait Frozen.
        .executableTarget(
            name: "FrozenProbe", dependencies: ["Tweaks", "TweaksDaemon"], path: "Tests/FrozenProbe"),
        // A daemon that tests kill, signal, and take the disk from.
        .executableTarget(
            name: "CrashProbe", dependencies: ["Tweaks", "TweaksServer", "TweaksDaemon"], path: "Tests/CrashProbe"),
        // What takes bytes from strangers, run by .ci/fuzz with libFuzzer, and by the tests with the corpus.
        .executableTarget(
            name: "tweaks-fuzz",
            dependencies: ["Tweaks", "TweaksWire", "TweaksStorage", "TweaksServer", "TweaksPanel"],
            path: "Tests/Fuzz", exclude: ["Corpus", "dictionary.txt"]),
        .testTarget(name: "FuzzTests", dependencies: ["tweaks-fuzz"]),
        // swift run -c release TweaksBenchmarks
        .executableTarget(
            name: "TweaksBenchmarks",
            dependencies: ["Tweaks", "TweaksStorage", "TweaksServer", "TweaksPanel", "TweaksDaemon"],
            path: "Tests/TweaksBenchmarks"),
    ],
    cLanguageStandard: .c2x
)

// The thread sanitizer's run in .ci/run builds everything a second time: it leaves out tests that have one thread, and the
// programs that only those start.
if Context.environment["TWEAKS_TESTS"] == "threads" {
    let tests: Set = ["TweaksTests", "TweaksStorageTests", "TweaksServerTests", "TweaksDaemonTests"]
    let programs: Set = ["tweakctl", "bounce", "hello", "patient", "throttled", "TweaksBenchmarks", "tweaks-fuzz"]
    package.targets.removeAll { programs.contains($0.name) || $0.type == .test && !tests.contains($0.name) }
    package.products.removeAll { programs.contains($0.name) }
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
