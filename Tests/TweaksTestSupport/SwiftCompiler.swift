// Type-checks small Swift sources as a user might write them.

import Foundation
package import Testing

/// Type-checks source that imports the modules which these tests were built with.
package enum SwiftCompiler {
    /// Whether a compiler is on the path and the modules are where the build puts them.
    package static var isAvailable: Bool { program != nil && modules != nil }

    /// Why a test is skipped.
    package static let missing: Comment = "swiftc, or the modules beside the tests, are missing"

    /// The errors of a source file in Swift 6 mode; empty when it compiles.
    package static func errors(in source: String) throws -> [String] {
        guard let program, let modules else { return [] }
        let directory = try TemporaryDirectory()
        let file = directory.file("Snippet.swift")
        try Data(source.utf8).write(to: URL(fileURLWithPath: file))
        let run = try RunningProgram(
            program,
            [
                "-typecheck", "-parse-as-library", "-swift-version", "6", "-diagnostic-style", "llvm", "-I", modules,
                file,
            ], output: .shared, errors: .read
        ).result()
        let lines = run.errors.split(separator: "\n").map(String.init)
        let errors = lines.filter { $0.contains("error: ") }
        // A compiler that cannot start prints no error for the source.
        return errors.isEmpty && run.code != 0 ? lines : errors
    }

    private static var program: String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { "\($0)/swiftc" }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
    }

    /// The directory of the modules, beside the test program.
    private static var modules: String? {
        let programs = CommandLine.arguments.filter { $0.hasSuffix(".xctest") }
        return programs.map { URL(fileURLWithPath: $0).deletingLastPathComponent().appending(path: "Modules").path }
            .first { FileManager.default.fileExists(atPath: "\($0)/Tweaks.swiftmodule") }
    }
}
