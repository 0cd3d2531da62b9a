// swift-tools-version: 6.2
// Declares examples of Tweaks beside other packages, which the package itself does not depend on.
import PackageDescription

let package = Package(
    name: "neighbors",
    platforms: [.macOS(.v15)],
    dependencies: [
        // A package by path is known by the name of its folder, which a clone may have changed.
        .package(name: "Tweaks", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
    ],
    targets: [
        // A connector with TLS for processes that follow a fleet, and for its operators.
        .target(
            name: "FleetTLS",
            dependencies: [
                .product(name: "TweaksFleet", package: "Tweaks"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], path: "fleet-tls"),
        // The operator's client with it.
        .executableTarget(
            name: "tweakctl-fleet-tls",
            dependencies: ["FleetTLS", .product(name: "TweaksFleetOperator", package: "Tweaks")],
            path: "tweakctl-fleet-tls"),
        // A process that follows a fleet with it.
        .executableTarget(
            name: "quotes-tls",
            dependencies: [
                "FleetTLS", .product(name: "TweaksDaemon", package: "Tweaks"),
                .product(name: "TweaksFleet", package: "Tweaks"),
            ], path: "quotes-tls"),
        .testTarget(
            name: "FleetTLSTests",
            dependencies: [
                "FleetTLS", "tweakctl-fleet-tls", "quotes-tls", .product(name: "TweaksFleet", package: "Tweaks"),
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], path: "Tests/FleetTLSTests"),
    ]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .treatAllWarnings(as: .error),
    ]
}
