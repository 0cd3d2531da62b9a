// What this process holds, by the kernel's own account: memory, descriptors, threads.

import Foundation

/// Figures that have to end where they began.
struct ProcessFigures {
    let residentBytes: Int
    /// What the program has allocated and not freed; nil where the allocator does not say.
    let allocatedBytes: Int?
    let descriptors: Int
    /// Their names.
    let threads: [String]

    /// As they are now.
    static func now() -> ProcessFigures {
        ProcessFigures(
            residentBytes: residentBytes(of: "self"), allocatedBytes: allocated(),
            descriptors: entries("/proc/self/fd").count,
            threads: entries("/proc/self/task").compactMap(name(ofThread:)).sorted())
    }

    /// As they are when nothing is under way any more: what was freed is given back, and threads that only wait for work
    /// have had the time to end.
    /// - Parameter threads: So many are waited for, as long as a minute.
    static func settled(threads: Int? = nil) -> ProcessFigures {
        var figures = now()
        var quietRounds = 0
        for _ in 0..<120 where quietRounds < 12 || figures.threads.count > threads ?? .max {
            usleep(500_000)
            let next = now()
            let isQuiet =
                next.threads.count == figures.threads.count && next.descriptors == figures.descriptors
            quietRounds = isQuiet ? quietRounds + 1 : 0
            figures = next
        }
        giveBack()
        return now()
    }

    /// Has the allocator give back what is free, where it can: glibc's does, and Swift does not import the call.
    private static func giveBack() {
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
    }

    /// The bytes that the program has allocated and not freed, by glibc's account; nil elsewhere.
    private static func allocated() -> Int? {
        guard let symbol = dlsym(nil, "malloc_info") else { return nil }
        var (text, count): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        guard let stream = open_memstream(&text, &count) else { return nil }
        let status = unsafeBitCast(
            symbol, to: (@convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32).self)(0, stream)
        fclose(stream)
        defer { free(text) }
        guard status == 0, let text else { return nil }
        return allocated(inInfo: String(cString: text))
    }

    /// The sum of what malloc_info(3) says after its list of heaps: taken from the system, less what is free, and what has
    /// a mapping of its own.
    private static func allocated(inInfo text: String) -> Int? {
        guard let list = text.range(of: "</heap>", options: .backwards) else { return nil }
        func size(_ element: String) -> Int? {
            let line = text[list.upperBound...].split(separator: "\n").first { $0.hasPrefix("<\(element)\"") }
            return line?.split(separator: "\"").dropLast().last.flatMap { Int($0) }
        }
        guard let taken = size("system type=\"current"), let mapped = size("total type=\"mmap"),
            let fast = size("total type=\"fast"), let rest = size("total type=\"rest")
        else { return nil }
        return taken + mapped - fast - rest
    }

    /// The memory of a process that is in use, as the kernel counts it.
    static func residentBytes(of process: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * Int(getpagesize())
    }

    private static func entries(_ directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    /// What a thread is called; nil when it has just ended.
    private static func name(ofThread number: String) -> String? {
        let text = try? String(contentsOfFile: "/proc/self/task/\(number)/comm", encoding: .utf8)
        return text?.trimmingCharacters(in: .newlines)
    }

    var text: String {
        "\(residentBytes / 1_024) KiB resident, " + (allocatedBytes.map { "\($0 / 1_024) KiB allocated, " } ?? "")
            + "\(descriptors) descriptors, \(threads.count) threads (\(threads.joined(separator: ", ")))"
    }
}
