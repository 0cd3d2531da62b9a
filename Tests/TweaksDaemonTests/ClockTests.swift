// Tests that temporary overrides end by a clock that is independent of the time of day.

import Foundation
import Testing
import TweaksTestSupport

#if os(Linux)
    @Suite(.blocking, .tags(.process), .enabled(if: Child.exists)) struct ClockTests {
        /// The clocks of a process's timers, by the numbers of clock_gettime(2).
        private func clocks(of process: Int32) throws -> [Int] {
            let path = "/proc/\(process)/fdinfo"
            return try FileManager.default.contentsOfDirectory(atPath: path).compactMap { name in
                let text = try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
                let line = text?.splitLines().first { $0.hasPrefix("clockid: ") }
                return line.flatMap { Int($0.dropFirst("clockid: ".count)) }
            }
        }

        /// Checked by the kernel's list of timers, as libfaketime shifts all absolute timers of any clock.
        @Test func temporaryOverridesEndByTheTimeSinceBoot() throws {
            let (realTime, bootTime) = (0, 7)
            let directory = try TemporaryDirectory()
            let child = try Child(in: directory.path)
            try #require(try child.waitUntilReady(), "\(child.log.all)")
            let client = try child.connect()
            #expect(try !clocks(of: child.processID).contains(bootTime))
            #expect(try client.ask("set Probe/Int/T0 1 for 1h").last == "ok rev 1")
            // A task sets the timer.
            try eventually { try clocks(of: child.processID).contains(bootTime) }
            #expect(try !clocks(of: child.processID).contains(realTime))
            try child.stop()
        }
    }
#endif
