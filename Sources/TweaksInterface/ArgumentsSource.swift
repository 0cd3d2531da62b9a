// Takes values of tweaks from the program's arguments.

import Synchronization
import Tweaks

extension TweakDaemon.Source {
    /// Takes values from the command line: `--tweak Label/Text/Size=40`, as often as there are values; also
    /// `--tweak=Label/Text/Size=40`. For trying things.
    ///
    /// ```swift
    /// try TweakDaemon.start("api", sources: [.arguments], tweaks: Settings.all)
    /// ```
    ///
    /// Other arguments are the program's, which must accept these. The value is a text without quotes; of two for one
    /// tweak the last one counts; nothing after `--` is read. The layer is above the environment and below a fleet.
    ///
    /// Secrets are refused, since `ps` would show them. The log names these, malformed ones, those that no tweak has
    /// taken, and bad values, where the next layer applies.
    public static var arguments: TweakDaemon.Source { arguments(CommandLine.arguments.dropFirst()) }

    /// Takes values from these arguments, which do not include the program's name.
    package static func arguments(_ list: some Sequence<String>) -> TweakDaemon.Source {
        let source = ArgumentsSource(list)
        return TweakDaemon.Source { _, _ in source }
    }
}

/// The command line as a source.
final class ArgumentsSource: TweakValueSource {
    let layer = TweakLayer.arguments
    /// The texts by path. As `String` does, it takes different normalizations of a path as one.
    private let values: [String: String]
    private let problems: [String]
    private let taken = Mutex<Set<String>>([])

    init(_ arguments: some Sequence<String>) {
        var values: [String: String] = [:]
        var problems: [String] = []
        for assignment in Self.assignments(arguments) {
            do throws(TweakError) {
                let (path, text) = try Self.parse(assignment)
                values[path] = text
            } catch {
                problems.append(error.message)
            }
        }
        self.values = values
        self.problems = problems
    }

    func start(_ sink: TweakSourceSink) {
        let taken = taken.withLock { $0 }
        let view = TweakView(sink.registry)
        let unknown = values.keys.filter { !taken.contains($0) }.sorted().prefix(Self.maxListed).map { path in
            "\(view.unknown(path).message); the value is used when one registers"
        }
        for problem in problems.prefix(Self.maxListed) + unknown { sink.warn("\(Self.option): \(problem)") }
    }

    func entry(for path: TweakPath) -> TweakSourceEntry? {
        guard let text = values[path.joined] else { return nil }
        taken.withLock { _ = $0.insert(path.joined) }
        return .text(text, origin: TweakOrigin(Self.option))
    }

    // MARK: Parsing

    private static let option = "--tweak"
    /// The number of lines for each kind of problem.
    private static let maxListed = 20

    /// What follows each option; empty for one at the end.
    private static func assignments(_ arguments: some Sequence<String>) -> [String] {
        var found: [String] = []
        var isNext = false
        for argument in arguments {
            if isNext {
                found.append(argument)
                isNext = false
            } else if argument == "--" {
                break
            } else if argument == option {
                isNext = true
            } else if argument.utf8.starts(with: "\(option)=".utf8) {
                found.append(String(decoding: argument.utf8.dropFirst(option.utf8.count + 1), as: UTF8.self))
            }
        }
        return isNext ? found + [""] : found
    }

    /// The path and the value, which begins after the first `=` of the third part. Errors do not show the value.
    private static func parse(_ assignment: String) throws(TweakError) -> (path: String, text: String) {
        let bytes = assignment.utf8
        var slashes = 0
        let end = bytes.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return byte == UInt8(ascii: "=") && slashes >= 2
        }
        guard let end else {
            let shown = Quoting.excerpt(String(decoding: bytes.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
            throw TweakError(.usage, "\(shown) sets no tweak; write \(option) CATEGORY/COLLECTION/NAME=VALUE")
        }
        let path = try TweakPath(String(assignment[..<end]))
        return (path.joined, String(assignment[bytes.index(after: end)...]))
    }
}
