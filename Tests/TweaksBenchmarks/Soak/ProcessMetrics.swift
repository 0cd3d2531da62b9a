// Reads the memory, descriptors and threads of processes from the kernel.

import Foundation

/// Metrics of this process that must return to their initial values.
struct ProcessMetrics {
    let residentBytes: Int
    /// The allocated bytes that are not freed; nil where the allocator does not report them.
    let allocatedBytes: Int?
    let descriptors: Int
    /// The names of the threads.
    let threads: [String]

    /// The current values.
    static func now() -> ProcessMetrics {
        ProcessMetrics(
            residentBytes: residentBytes(of: "self"), allocatedBytes: allocated(),
            descriptors: entries("/proc/self/fd").count,
            threads: entries("/proc/self/task").compactMap(name(ofThread:)).sorted())
    }

    /// The values when all work is done: freed memory is returned to the system, and idle threads have had time to end.
    /// - Parameter threads: Waits up to a minute for the number of threads to fall to this.
    static func settled(threads: Int? = nil) -> ProcessMetrics {
        var metrics = now()
        var quietRounds = 0
        for _ in 0..<120 where quietRounds < 12 || metrics.threads.count > threads ?? .max {
            usleep(500_000)
            let next = now()
            let isQuiet = next.threads.count == metrics.threads.count && next.descriptors == metrics.descriptors
            quietRounds = isQuiet ? quietRounds + 1 : 0
            metrics = next
        }
        trimHeap()
        return now()
    }

    /// Returns free memory to the system. Only glibc can, and Swift does not import the call.
    private static func trimHeap() {
        guard let symbol = dlsym(nil, "malloc_trim") else { return }
        _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
    }

    /// The allocated bytes that are not freed, from glibc; nil elsewhere.
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

    /// The sum of the totals of malloc_info(3), which follow its list of heaps: memory from the system, minus free
    /// chunks, plus chunks with separate mappings.
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

    /// The resident memory of a process; `self` is this one.
    static func residentBytes(of process: String) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
        return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * Int(getpagesize())
    }

    /// The number of threads of a process.
    static func threadCount(of process: Int32) -> Int { entries("/proc/\(process)/task").count }

    private static func entries(_ directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    /// The name of a thread; nil when it has just ended.
    private static func name(ofThread number: String) -> String? {
        let text = try? String(contentsOfFile: "/proc/self/task/\(number)/comm", encoding: .utf8)
        return text?.trimmingCharacters(in: .newlines)
    }

    var text: String {
        "\(residentBytes / 1_024) KiB resident, " + (allocatedBytes.map { "\($0 / 1_024) KiB allocated, " } ?? "")
            + "\(descriptors) descriptors, \(threads.count) threads (\(threads.joined(separator: ", ")))"
    }
}
