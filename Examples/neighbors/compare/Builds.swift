// Compares what packages cost a program: the processor time of a clean release build, and the size of the program.

import Foundation

extension Report {
    /// A package, its product, and a program that needs it.
    private static let packages: [(name: String, dependency: String, product: String, main: String)] = [
        ("Tweaks, with server and page", "", "TweaksDaemon", "print(TweakDaemon.self)"),
        ("NIOPosix", "apple/swift-nio:2.101.2", "NIOPosix", "print(MultiThreadedEventLoopGroup.self)"),
        ("FlyingFox", "swhitty/FlyingFox:0.27.1", "FlyingFox", "print(HTTPServer.self)"),
        ("swift-configuration", "apple/swift-configuration:1.4.0", "Configuration", "print(ConfigReader.self)"),
        ("ArgumentParser", "apple/swift-argument-parser:1.8.2", "ArgumentParser", "print(ParsableArguments.self)"),
    ]

    func builds(_ directory: String) throws {
        // The first build fills caches of the compiler that all others share, so it is not of a package.
        guard try build("Foundation", "print(Date.self)", "\(directory)/empty") != nil else {
            throw Failure(description: "swift cannot build here; see what swift build says")
        }
        var ours: (seconds: Double, size: Double)?
        row("\nclean release build, processor time", "s", "Tweaks = 1")
        for package in Self.packages {
            // A package is known by the name of its folder, which may not be that of a dependency.
            let folder = "\(directory)/with-\(package.product)"
            let built = try build(package.product, package.main, folder, package.dependency)
            guard let built else {
                if ours == nil { throw Failure(description: "\(package.name) cannot be built here; run swift build") }
                write("  \(package.name) cannot be had or built here; it is left out")
                continue
            }
            let first = ours ?? built
            ours = first
            row("  " + package.name, number(built.seconds), number(built.seconds / first.seconds))
            row("    stripped program, MB", number(built.size / 1e6), number(built.size / first.size))
        }
    }

    /// - Parameter package: The package of the module, and its version; empty for this package, nil for none.
    private func build(
        _ module: String, _ main: String, _ directory: String, _ package: String? = nil
    ) throws -> (seconds: Double, size: Double)? {
        let (dependency, product) = Self.dependency(on: module, of: package)
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "peer", platforms: [.macOS(.v15)], dependencies: [\(dependency)],
                targets: [.executableTarget(name: "peer", dependencies: [\(product)])])
            """
        let sources = URL(fileURLWithPath: directory).appending(path: "Sources/peer")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        try Data(manifest.utf8).write(to: URL(fileURLWithPath: "\(directory)/Package.swift"))
        try Data("import \(module)\n\(main)\n".utf8).write(to: sources.appending(path: "main.swift"))
        return try build(directory)
    }

    /// The dependencies of a package and of its target, as its manifest has them.
    private static func dependency(on module: String, of package: String?) -> (package: String, product: String) {
        guard let package else { return ("", "") }
        func product(_ identity: String) -> String { #".product(name: "\#(module)", package: "\#(identity)")"# }
        let parts = package.split(separator: ":")
        if parts.isEmpty {
            // This file is three folders below the package.
            let root = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardized.path
            return (#".package(name: "Tweaks", path: "\#(root)")"#, product("Tweaks"))
        }
        let dependency = #".package(url: "https://github.com/\#(parts[0])", exact: "\#(parts[1])")"#
        return (dependency, product(String(parts[0].split(separator: "/")[1])))
    }

    private func build(_ directory: String) throws -> (seconds: Double, size: Double)? {
        guard try run("swift", "package", "--package-path", directory, "resolve") else { return nil }
        let before = Self.processorTime
        guard try run("swift", "build", "-c", "release", "--package-path", directory) else { return nil }
        let time = Self.processorTime - before
        let program = "\(directory)/.build/release/peer"
        guard try run("strip", "-o", "\(program).stripped", program) else { return nil }
        let size = try FileManager.default.attributesOfItem(atPath: "\(program).stripped")[.size] as? Int
        return (time, Double(size ?? 0))
    }

    private func run(_ words: String...) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// That of all programs that have ended.
    private static var processorTime: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}
