// swift-tools-version: 6.2
// Tweaks: typed values that people change while a process runs. No dependencies.
import PackageDescription

let package = Package(
    name: "Tweaks",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "Tweaks", targets: ["Tweaks"]),
        .library(name: "TweaksServer", targets: ["TweaksServer"]),
        .library(name: "TweaksDaemon", targets: ["TweaksDaemon"]),
        .executable(name: "bounce", targets: ["bounce"]),
        .executable(name: "hello", targets: ["hello"]),
    ],
    targets: [
        // The registry: standard library and Synchronization only.
        .target(name: "Tweaks"),
        // The protocol as a pure codec: bytes ⇄ lines ⇄ requests ⇄ replies.
        .target(name: "TweaksWire", dependencies: ["Tweaks"]),
        // Header-only: the kernel interfaces that the Swift overlay of Linux does not import.
        .target(name: "CTweaksLinux"),
        // Sockets, sessions and the command table.
        .target(
            name: "TweaksServer",
            dependencies: [
                "Tweaks", "TweaksWire",
                .target(name: "CTweaksLinux", condition: .when(platforms: [.linux, .android])),
            ]),
        // One call that introduces them to each other.
        .target(name: "TweaksDaemon", dependencies: ["Tweaks", "TweaksWire", "TweaksServer"]),

        .executableTarget(name: "hello", dependencies: ["Tweaks", "TweaksDaemon"], path: "Examples/hello"),
        .executableTarget(name: "bounce", dependencies: ["Tweaks", "TweaksDaemon"], path: "Examples/bounce"),

        .target(
            name: "TweaksTestSupport", dependencies: ["Tweaks", "TweaksServer"], path: "Tests/TweaksTestSupport"),
        .testTarget(name: "TweaksTests", dependencies: ["Tweaks", "TweaksTestSupport"]),
        .testTarget(name: "TweaksWireTests", dependencies: ["Tweaks", "TweaksWire", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksServerTests", dependencies: ["Tweaks", "TweaksWire", "TweaksServer", "TweaksTestSupport"]),
        .testTarget(
            name: "TweaksDaemonTests",
            dependencies: ["Tweaks", "TweaksServer", "TweaksDaemon", "TweaksTestSupport"]),
        .testTarget(name: "BounceTests", dependencies: ["bounce", "Tweaks", "TweaksDaemon"]),
        // swift run -c release TweaksBenchmarks
        .executableTarget(
            name: "TweaksBenchmarks", dependencies: ["Tweaks", "TweaksServer"], path: "Tests/TweaksBenchmarks"),
    ]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ]
}
