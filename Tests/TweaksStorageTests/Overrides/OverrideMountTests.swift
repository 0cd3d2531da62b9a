// Tests full and read-only file systems where this process may mount them.

#if canImport(Glibc)
    import Foundation
    import Glibc
    import Testing
    import Tweaks
    import TweaksStorage
    import TweaksTestSupport

    @Suite(.blocking) struct OverrideMountTests {
        private let home: TemporaryDirectory
        private let time = ManualClock()

        init() throws { home = try TemporaryDirectory() }

        /// Mounts 64 KiB of memory; its caller unmounts it.
        private func mountSmallFileSystem() throws -> String {
            try home.makeFolder("small")
            guard Glibc.mount("tmpfs", home.file("small"), "tmpfs", 0, "size=64k,mode=700") == 0 else {
                try Test.cancel("this process may not mount a small file system")
            }
            return home.file("small")
        }

        @Test func aFullDiskIsReportedAndRecoveredFrom() throws {
            let path = try mountSmallFileSystem()
            defer { umount2(path, Int32(MNT_DETACH)) }
            let run = ProgramRun(path, time: time)
            let text = try run.registry.register("A", "B", "Text", "")
            #expect(run.save(text, "saved") == nil)
            let failure = run.save(text, String(repeating: "x", count: 60_000))
            #expect(failure == "No space left on device (writing overrides.json)")
            #expect(run.text?.contains(#""value": "saved""#) == true)
            #expect(home.names("small") == ["lock", "overrides.json"])
            text.value = "small again"
            time.advance(whenAsleepFor: .milliseconds(20))
            #expect(run.isSavedEventually() && run.text?.contains("small again") == true)
        }

        @Test func aReadOnlyFileSystemIsReadAndNotWritten() throws {
            let path = try mountSmallFileSystem()
            defer { umount2(path, Int32(MNT_DETACH)) }
            do {
                let run = ProgramRun(path)
                try run.number("Size").value = 2
                run.store.close()
            }
            // A child that another test has just forked has the files open until it runs its program.
            try eventually { Glibc.mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "size=64k") == 0 }
            let run = ProgramRun(path, time: time)
            let size = try run.number("Size")
            #expect(size.value == 2)
            #expect(run.save(size, 3)?.hasPrefix("Read-only file system") == true)
            #expect(Glibc.mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=64k") == 0)
            time.advance(whenAsleepFor: .milliseconds(100))
            #expect(run.isSavedEventually() && run.text?.contains(#""value": 3"#) == true)
            #expect(!home.names("small").contains { $0.contains("unreadable") })
        }
    }
#endif
