// Runs a daemon in its own process, so that tests can kill it, signal it and limit its disk.

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

/// `CrashProbe [required] [config-required] [file-wins] [hangup] [lean] [block-PLACE] [mask]`; `TWEAKS_*` names its files
/// and socket. It prints `ready` when clients can connect, and ends with its standard input. With `hangup` it sends
/// itself SIGHUP as soon as it listens; `lean` quarters the memory for clients; `block-main` and `block-pool` block the
/// main actor and all threads of tasks once it is ready, `block-start` the start, after a line `ready`, and `block-close`
/// the end; `mask` blocks the signals that stop it in all threads. `CrashProbe race` runs ``Race``.
@main
enum CrashProbe {
    static func main() async {
        do {
            try await serve()
        } catch {
            // An error thrown out of main would cause a trap and a backtrace.
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
        if words.contains("mask") { blockStops() }
        declare()
        var limits = TweakServerLimits()
        if words.contains("lean") { limits.memoryBytes /= 4 }
        let daemon = try TweakDaemon.start(
            "probe", config: config, sources: Blockade.sources(words),
            durability: words.contains("required") ? .required : .bestEffort,
            signals: [.reload, .stop], limits: limits, onEvent: words.contains("hangup") ? hangUp : nil)
        actions(daemon)
        Thread.detachNewThread {
            while let bytes = try? FileHandle.standardInput.read(upToCount: 64), !bytes.isEmpty {}
            daemon.stop()
        }
        if words.contains("block-pool") { blockTasks() }
        try FileHandle.standardOutput.write(contentsOf: Data("ready\n".utf8))
        if words.contains("block-main") {
            Task { @MainActor in try await daemon.run() }
            await MainActor.run { while true { sleep(1_000) } }
        }
        if words.contains("block-pool") {
            let running = Task.detached { try await daemon.run() }
            return try await running.value
        }
        try await daemon.run()
    }

    /// As Dispatch does in each thread that a signal has interrupted.
    private static func blockStops() {
        var stops = sigset_t()
        sigemptyset(&stops)
        for signal in [SIGTERM, SIGINT] { sigaddset(&stops, signal) }
        pthread_sigmask(SIG_BLOCK, &stops, nil)
    }

    /// Returns when no thread is left for tasks.
    private static func blockTasks() {
        let count = ProcessInfo.processInfo.activeProcessorCount
        for _ in 0..<4 * count { Task.detached { while true { sleep(1_000) } } }
        Thread.sleep(forTimeInterval: 0.2)
    }

    /// Logs, and sends SIGHUP as early as an operator can.
    private static func hangUp(_ event: TweakDaemonEvent) {
        if case .listening = event { kill(getpid(), SIGHUP) }
        for line in event.lines { try? FileHandle.standardError.write(contentsOf: Data("probe: \(line)\n".utf8)) }
    }

    /// Declares three tweaks of each kind, two that always change together, and others for load.
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
            // They stay open, like connections of a program.
            let opened = (0..<count).prefix { _ in open("/dev/null", O_RDONLY) >= 0 }
            return "\(opened.count) opened"
        }
        tweakAction("Probe", "Disk", "Limit") { arguments in
            limitFiles(arguments.first.flatMap { UInt64($0) })
            return "limited"
        }
    }

    /// Replaces the config file atomically.
    private static func save(_ text: String) throws {
        let path = ProcessInfo.processInfo.environment["TWEAKS_CONFIG"] ?? ""
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + ".new"))
        rename(path + ".new", path)
    }

    /// Limits the size of files; nil removes the limit.
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
