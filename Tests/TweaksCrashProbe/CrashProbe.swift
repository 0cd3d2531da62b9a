// A daemon that tests start as a process of its own, in order to kill it, signal it, and take its disk away.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
import Tweaks
import TweaksDaemon
import TweaksServer

/// `CrashProbe [required] [config-required] [file-wins] [hangup] [lean]`; files and socket are named by `TWEAKS_*`. It says `ready` on
/// standard output when clients can connect, and ends at the end of its standard input. With `hangup` it sends itself SIGHUP
/// as soon as it listens; with `lean` clients can make it hold a quarter of what they usually can. `CrashProbe race` is `Race`.
@main
enum CrashProbe {
    static func main() async {
        do {
            try await serve()
        } catch {
            // Thrown out of main it would end in a trap and a backtrace.
            try? FileHandle.standardError.write(contentsOf: Data("probe: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func serve() async throws {
        // Beyond the limit, writing fails instead of ending the process.
        signal(SIGXFSZ, SIG_IGN)
        let words = Set(CommandLine.arguments.dropFirst())
        if words.contains("race") { return Race.run() }
        var config: TweakDaemon.ConfigFile?
        if let path = ProcessInfo.processInfo.environment["TWEAKS_CONFIG"] {
            config = TweakDaemon.ConfigFile(
                path, precedence: words.contains("file-wins") ? .fileWins : .overrideStays,
                atStart: words.contains("config-required") ? .required : .optional)
        }
        declare()
        var limits = TweakServerLimits()
        if words.contains("lean") { limits.memoryBytes /= 4 }
        let daemon = try TweakDaemon.start(
            "probe", config: config, durability: words.contains("required") ? .required : .bestEffort,
            signals: [.reload, .stop], limits: limits, onEvent: words.contains("hangup") ? hangUp : nil)
        actions(daemon)
        Thread.detachNewThread {
            while let bytes = try? FileHandle.standardInput.read(upToCount: 64), !bytes.isEmpty {}
            daemon.stop()
        }
        try FileHandle.standardOutput.write(contentsOf: Data("ready\n".utf8))
        try await daemon.run()
    }

    /// Logs, and does at the first moment what an operator may do then.
    private static func hangUp(_ event: TweakDaemonEvent) {
        if case .listening = event { kill(getpid(), SIGHUP) }
        for line in event.lines { try? FileHandle.standardError.write(contentsOf: Data("probe: \(line)\n".utf8)) }
    }

    /// Three tweaks of each kind, and two that always change together.
    private static func declare() {
        for number in 0..<3 {
            let name = "T\(number)"
            _ = Tweak("Probe", "Bool", name, false)
            _ = Tweak("Probe", "Int", name, 0)
            _ = Tweak("Probe", "Number", name, 0.5)
            _ = Tweak("Probe", "String", name, "")
            _ = Tweak("Probe", "Color", name, TweakColor.black)
            _ = Tweak("Probe", "Choice", name, "one", choices: ["one", "two", "three"])
            _ = Tweak("Probe", "Duration", name, Duration.milliseconds(1))
        }
        _ = Tweak("Probe", "Pair", "Left", 0)
        _ = Tweak("Probe", "Pair", "Right", 0)
        _ = Tweak("Probe", "Secret", "Key", "", flags: .secret)
        for number in 0..<50 { _ = Tweak("Load", "Count", "C\(number)", 0) }
    }

    private static func actions(_ daemon: TweakDaemon) {
        tweakAction("Probe", "Config", "Reload", timeLimit: .seconds(600)) { arguments in
            let numbers = arguments.compactMap { Int($0) }
            for number in numbers[0]...numbers[1] {
                try save("Probe/Pair/Left = \(number)\nProbe/Pair/Right = \(number)\n")
                try daemon.reload()
            }
            return "\(numbers[1] - numbers[0] + 1) reloads"
        }
        tweakAction("Probe", "Descriptors", "Open") { arguments in
            let count = arguments.first.flatMap { Int($0) } ?? 0
            // They stay open, as a program's own connections would.
            let opened = (0..<count).prefix { _ in open("/dev/null", O_RDONLY) >= 0 }
            return "\(opened.count) opened"
        }
        tweakAction("Probe", "Disk", "Limit") { arguments in
            limitFiles(arguments.first.flatMap { UInt64($0) })
            return "limited"
        }
    }

    /// Puts another config file in place, as a whole.
    private static func save(_ text: String) throws {
        let path = ProcessInfo.processInfo.environment["TWEAKS_CONFIG"] ?? ""
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + ".new"))
        rename(path + ".new", path)
    }

    /// Files cannot become larger than this; nil: as large as ever.
    private static func limitFiles(_ size: UInt64?) {
        #if canImport(Glibc)
            let resource = RLIMIT_FSIZE.rawValue
        #else
            let resource = RLIMIT_FSIZE
        #endif
        var limits = rlimit()
        getrlimit(.init(resource), &limits)
        limits.rlim_cur = size.map { .init($0) } ?? limits.rlim_max
        setrlimit(.init(resource), &limits)
    }
}
