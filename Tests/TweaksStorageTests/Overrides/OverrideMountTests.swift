// Full and read-only file systems, real ones, where this process may mount them.

#if canImport(Glibc)
    import Foundation
    import Glibc
    import Testing
    import Tweaks
    import TweaksStorage
    import TweaksTestSupport

    @Suite("Overrides on disk: real file systems", .blocking)
    struct OverrideMountTests {
        private let home: TemporaryDirectory
        private let time = ManualTime()

        init() throws { home = try TemporaryDirectory() }

        @Test("a full disk, a real one")
        func fullDisk() throws {
            let place = home.file("small")
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            guard Glibc.mount("tmpfs", place, "tmpfs", 0, "size=64k,mode=700") == 0 else {
                try Test.cancel("this process may not mount a small file system")
            }
            defer { umount2(place, Int32(MNT_DETACH)) }
            let life = StoredLife(place, time: time)
            let text = try life.registry.register("A", "B", "Text", "")
            text.value = "saved"
            #expect(life.tried() == nil)
            text.value = String(repeating: "x", count: 60_000)
            #expect(life.tried() == "No space left on device (writing overrides.json)")
            #expect(life.text?.contains(#""value": "saved""#) == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == ["lock", "overrides.json"])
            text.value = "small again"
            time.waitUntilAsleep(for: .milliseconds(20))
            time.advance(by: .milliseconds(20))
            #expect(life.isSavedInTheEnd())
            #expect(life.text?.contains("small again") == true)
        }

        @Test("a read-only file system, a real one: what is stored is in effect, and nothing is written")
        func readOnly() throws {
            let place = home.file("fixed")
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            guard Glibc.mount("tmpfs", place, "tmpfs", 0, "size=64k,mode=700") == 0 else {
                try Test.cancel("this process may not mount a file system")
            }
            defer { umount2(place, Int32(MNT_DETACH)) }
            do {
                let life = StoredLife(place)
                try life.number("Size").value = 2
                life.store.close()
            }
            #expect(
                Glibc.mount("tmpfs", place, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), "size=64k") == 0)
            let life = StoredLife(place, time: time)
            let size = try life.number("Size")
            #expect(size.value == 2)
            size.value = 3
            #expect(life.tried()?.hasPrefix("Read-only file system") == true)
            #expect(Glibc.mount("tmpfs", place, "tmpfs", UInt(MS_REMOUNT), "size=64k") == 0)
            time.waitUntilAsleep(for: .milliseconds(100))
            time.advance(by: .milliseconds(100))
            #expect(life.isSavedInTheEnd())
            #expect(life.text?.contains(#""value": 3"#) == true)
            #expect(!home.names("fixed").contains { $0.contains("unreadable") })
        }
    }
#endif
