// swift-tools-version: 6.2
// Declares examples of Tweaks beside other packages, which the package itself does not depend on.
import PackageDescription

let package = Package(
    name: "neighbors",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "FleetTLS", targets: ["FleetTLS"]),
        .library(name: "QuotesSite", targets: ["QuotesSite"]),
        .library(name: "TweaksConfiguration", targets: ["TweaksConfiguration"]),
        .library(name: "TweaksConfigurationSource", targets: ["TweaksConfigurationSource"]),
        .library(name: "TweaksLifecycle", targets: ["TweaksLifecycle"]),
        .library(name: "TweaksObservability", targets: ["TweaksObservability"]),
    ],
    dependencies: [
        // A package by path is known by the name of its folder, which a clone may have changed.
        .package(name: "Tweaks", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(
            url: "https://github.com/apple/swift-configuration.git", from: "1.4.0",
            traits: [.defaults, "YAML", "Reloading"]),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-system.git", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.3"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
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
        // What several tests need.
        .target(name: "NeighborsTestSupport", path: "Tests/Support"),
        .testTarget(
            name: "FleetTLSTests",
            dependencies: [
                "NeighborsTestSupport", "FleetTLS", "tweakctl-fleet-tls", "quotes-tls",
                .product(name: "TweaksFleet", package: "Tweaks"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOTLS", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ], path: "Tests/FleetTLSTests"),

        // Tweaks for programs that read swift-configuration.
        .target(
            name: "TweaksConfiguration",
            dependencies: [
                .product(name: "Tweaks", package: "Tweaks"),
                .product(name: "Configuration", package: "swift-configuration"),
            ], path: "configuration"),
        // Providers of swift-configuration as layers of tweaks.
        .target(
            name: "TweaksConfigurationSource",
            dependencies: [
                .product(name: "Tweaks", package: "Tweaks"),
                .product(name: "Configuration", package: "swift-configuration"),
            ], path: "configuration-source"),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: [
                "TweaksConfiguration", "TweaksConfigurationSource", .product(name: "TweaksDaemon", package: "Tweaks"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "ConfigurationTesting", package: "swift-configuration"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], path: "Tests/ConfigurationTests"),

        // A daemon as a service of a group.
        .target(
            name: "TweaksLifecycle",
            dependencies: [
                .product(name: "TweaksDaemon", package: "Tweaks"), .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], path: "lifecycle"),
        .testTarget(
            name: "LifecycleTests",
            dependencies: [
                "NeighborsTestSupport", "TweaksLifecycle", "quotes-service",
                .product(name: "TweaksDaemon", package: "Tweaks"), .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], path: "Tests/LifecycleTests"),

        // Log, metrics and traces of a daemon; levels and metrics as tweaks.
        .target(
            name: "TweaksObservability",
            dependencies: [
                .product(name: "TweaksDaemon", package: "Tweaks"), .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
            ], path: "observability"),
        .testTarget(
            name: "ObservabilityTests",
            dependencies: [
                "TweaksObservability", .product(name: "TweaksDaemon", package: "Tweaks"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ], path: "Tests/ObservabilityTests"),

        // A program with all of them.
        .executableTarget(
            name: "quotes-service",
            dependencies: [
                "TweaksConfiguration", "TweaksConfigurationSource", "TweaksLifecycle", "TweaksObservability",
                .product(name: "TweaksDaemon", package: "Tweaks"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"), .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ], path: "quotes-service"),
        .testTarget(name: "GuideTests", path: "Tests/GuideTests"),

        // An HTTP service with the panel in its own router.
        .target(
            name: "QuotesSite",
            dependencies: [
                .product(name: "Tweaks", package: "Tweaks"), .product(name: "TweaksPanel", package: "Tweaks"),
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Logging", package: "swift-log"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
            ], path: "hummingbird/site"),
        .executableTarget(
            name: "quotes-site",
            dependencies: [
                "QuotesSite", "TweaksLifecycle", .product(name: "TweaksDaemon", package: "Tweaks"),
                .product(name: "TweaksPanel", package: "Tweaks"), .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ], path: "hummingbird/program"),
        .testTarget(
            name: "QuotesSiteTests",
            dependencies: [
                "NeighborsTestSupport", "QuotesSite", "quotes-site", .product(name: "Tweaks", package: "Tweaks"),
                .product(name: "TweaksServer", package: "Tweaks"), .product(name: "TweaksPanel", package: "Tweaks"),
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Logging", package: "swift-log"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ], path: "Tests/QuotesSiteTests"),
    ]
)

#if os(Linux)
    // Its servers and its figures are those of Linux.
    package.targets += [
        // Measures Tweaks beside its neighbors: swift run -c release compare
        .executableTarget(
            name: "compare",
            dependencies: [
                "TweaksConfiguration", .product(name: "TweaksDaemon", package: "Tweaks"),
                .product(name: "Configuration", package: "swift-configuration"),
            ], path: "compare"),
        .testTarget(
            name: "CompareTests", dependencies: ["NeighborsTestSupport", "compare"], path: "Tests/CompareTests"),
    ]
#endif

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .treatAllWarnings(as: .error),
    ]
}
