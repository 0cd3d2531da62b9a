// Tests that a client cannot hide a change by many others: beyond its budget, folds keep their first line and all values.

import Testing
import Tweaks
import TweaksStorage
import TweaksSystem
import TweaksTestSupport

@Suite(.blocking) struct AuditFoldTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func lines(_ end: String = "") -> [String] { home.auditLines("audit.log").filter { $0.contains(end) } }

    private func start(bytesPerDay: Int = 33_554_432, maximumSize: Int = 10_485_760) throws -> AuditedRun {
        let run = try AuditedRun(home.file("audit.log"), maximumSize: maximumSize, bytesPerDay: bytesPerDay)
        _ = try run.registry.register("A", "B", "Word", "")
        _ = try run.registry.register("A", "B", "Mode", "a", choices: ["a", "b", "c"])
        run.time.waitUntilIdle()
        return run
    }

    /// Sets a tweak as a session of a user, who may have given a name, and waits until the line is written.
    private func set(
        _ run: AuditedRun, _ value: TweakValue, at path: String = "A/B/X", as name: String? = nil,
        by user: UInt32 = 1000, flushes: Bool = true
    ) throws {
        let connection = TweakConnection(transport: "unix socket", peer: "uid \(user) pid 7")
        let origin = TweakOrigin.user(user).through(connection).named(try name.map { try DisplayName($0) })
        try run.registry.commit(
            try #require(run.registry[path]).node, .set(value), origin: origin, kind: .change(session: 1),
            delivery: .caller)
        if flushes { flush(run) }
    }

    /// Waits, as a reply does, until the audit has written everything.
    private func flush(_ run: AuditedRun) {
        let (revision, isThere) = (run.registry.revision, Gate())
        let observation = run.trail.observe { if $0.saved >= revision { isThere.open() } }
        if run.trail.status.saved >= revision { isThere.open() }
        run.trail.flush()
        isThere.waitBlocking()
        withExtendedLifetime(observation) {}
    }

    /// 360 sets of 1.5 kB.
    private func spendBudget(_ run: AuditedRun) throws {
        for round in 1...360 {
            let text = String(repeating: round % 2 == 0 ? "a" : "b", count: 1_500)
            try set(run, .string(text), at: "A/B/Word", flushes: false)
            if round % 60 == 0 { flush(run) }
        }
    }

    @Test func aChangeThatIsSetBackAndBuriedIsInTheFileBeforeItsReply() throws {
        let run = try start()
        try spendBudget(run)
        #expect(lines(#""path":"A/B/Word""#).count > 300)
        run.time.advance(by: .seconds(1))
        run.time.waitUntilAsleep()
        try set(run, .number(666))
        // This is what a kill would leave.
        #expect(run.trail.status.saved == run.registry.revision)
        #expect(lines(#""path":"A/B/X","old":1,"new":666}"#).count == 1)
        try set(run, .number(1))
        for round in 0..<2_600 {
            try set(run, .number(Double(2 + round % 2)), as: round % 2 == 0 ? "A" : "B", flushes: round % 100 == 0)
        }
        flush(run)
        #expect(lines(#""path":"A/B/X""#).count == 1)
        run.time.advance(by: .seconds(10))
        run.time.waitUntilAsleep()
        let fold = try #require(lines(#""path":"A/B/X""#).last)
        #expect(fold.contains(#""by":"uid 1000","from":"unix socket","#) && fold.contains(#""count":2602,"since":"#))
        #expect(fold.hasSuffix(#""old":1,"new":3,"lowest":1,"highest":666,"values":[666,1,2,3]}"#))
        #expect(run.trail.info.leftOut == 0 && run.trail.info.folded > 2_600)
        run.trail.close()
    }

    @Test func oneLargeSetNowAndThenDelaysNoLine() throws {
        let run = try start()
        try spendBudget(run)
        for round in 1...9 {
            run.time.advance(by: .seconds(30))
            run.time.waitUntilAsleep()
            try set(run, .string("\(round)" + String(repeating: "x", count: 60_000)), at: "A/B/Word")
            // Whole or cut, since it gets some budget back.
            let new = lines(#""path":"A/B/Word""#).filter {
                $0.contains(#""new":"\#(round)xxx"#) || $0.contains(#""new":{"start":"\#(round)xxx"#)
            }
            #expect(new.count == 1)
            try set(run, .number(Double(round + 1)))
            #expect(lines(#""path":"A/B/X","old":\#(round),"new":\#(round + 1)}"#).count == 1)
        }
        // A cut value has its length and digest.
        let cut = try #require(lines(#""new":{"start":"9xxx"#).first)
        #expect(cut.contains(#","bytes":60001,"sha256":""#) && cut.utf8.count < 600)
        run.trail.close()
    }

    /// (path, values, the end of the line about all of them)
    @Test(
        arguments: [
            (
                "A/B/Mode", [.choice("b"), .choice("c"), .choice("b"), .choice("a")],
                #""new":"a","values":["b","c","a"]}"#
            ),
            (
                "A/B/X", (1...12).map { .number(Double($0 * 7 % 13)) },
                #""lowest":1,"highest":12,"values":[7,1,8,2,9,3,10,4],"others":4}"#
            ),
            ("A/B/Word", [.string("x"), .string("y"), .string("x")], #""new":"x","values":["x","y"]}"#),
        ] as [(String, [TweakValue], String)])
    func aFoldListsItsValues(_ path: String, _ values: [TweakValue], _ end: String) throws {
        let run = try start()
        try spendBudget(run)
        run.time.advance(by: .seconds(10))
        run.time.waitUntilAsleep()
        for value in values { try set(run, value, at: path, flushes: false) }
        run.trail.close()
        let last = try #require(lines(#""path":"\#(path)""#).last)
        #expect(last.hasSuffix(end) && last.contains(#""count":\#(values.count),"since":"#), "\(last)")
    }

    @Test func aClientThatHasFilledItsDayIsRefusedAndOthersAreNot() throws {
        let run = try start(bytesPerDay: 1_060_000)
        try spendBudget(run)
        let origin = TweakOrigin.user(1000).named(try DisplayName("A"))
        #expect(run.trail.refusal(of: origin) == nil)
        for round in 1...200 {
            try set(run, .number(Double(round)))
            run.time.advance(by: .seconds(10))
            run.time.waitUntilAsleep()
            if run.trail.refusal(of: origin) != nil { break }
        }
        let refusal = try #require(run.trail.refusal(of: origin))
        let reason = "throttled: the audit has as many bytes of uid 1000 as it takes on one day; wait 23h"
        #expect(refusal.hasPrefix(reason))
        for other in [.user(1001), .user(0), .code] as [TweakOrigin] { #expect(run.trail.refusal(of: other) == nil) }
        // Who is not refused is still recorded.
        try set(run, .number(4_711))
        #expect(lines(#""new":4711}"#).count == 1)
        run.time.advance(by: .seconds(86_400))
        #expect(run.trail.refusal(of: origin) == nil)
        run.trail.close()
    }

    /// A process that starts again and again, or is made to, takes no more than one that runs on.
    @Test(arguments: [10_485_760, 200_000]) func aDayDoesNotBeginAnewWithTheProcess(maximumSize: Int) throws {
        let origin = TweakOrigin.user(1000)
        var run = try start(bytesPerDay: 1_060_000, maximumSize: maximumSize)
        try spendBudget(run)
        let wall = run.time.wall
        run.trail.close()
        /// Starts anew some seconds after that; another user's line shows that the start is over.
        func restart(after seconds: Int) throws {
            run = try start(bytesPerDay: 1_060_000, maximumSize: maximumSize)
            run.time.advance(by: .milliseconds(wall - run.time.wall) + .seconds(seconds))
            try set(run, .number(-1), by: 1001)
            // Earlier lines are counted after that.
            run.time.waitUntilAsleep()
        }
        var starts = 0
        while run.trail.refusal(of: origin) == nil, starts < 9 {
            starts += 1
            try restart(after: 60 * starts)
            // The first of a fold, cut, and a line about the others.
            for round in 1...5 {
                try set(run, .string("\(round)" + String(repeating: "y", count: 1_500)), at: "A/B/Word", as: "A")
            }
            run.trail.close()
        }
        #expect((1...8).contains(starts))
        try restart(after: 6_000)
        #expect(run.trail.refusal(of: origin)?.contains("as many bytes of uid 1000 as it takes on one day") == true)
        #expect(run.trail.refusal(of: origin)?.contains("wait 22h") == true)
        #expect(run.trail.refusal(of: .user(1001)) == nil)
        run.trail.close()
        try restart(after: 86_400 + 60)
        #expect(run.trail.refusal(of: origin) == nil)
        run.trail.close()
    }

    /// A long audit of earlier runs is read in slices, and no reply waits for all of them.
    @Test func aLineOfThisRunDoesNotWaitForTheReadingOfEarlierOnes() throws {
        let wall = ManualClock().wall
        let line = #"{"time":"\#(TimeText.print(wall))","by":"uid 1000","session":1,"path":"A/B/Word","new":""#
        let earlier = String(repeating: line + String(repeating: "x", count: 1_000) + "\"}\n", count: 3_000)
        try Folder.replace(home.file("audit.log"), with: earlier)
        let (files, reached, goOn) = (FailingFileSystem(), Gate(), Gate())
        // At the start it is opened for writing, and to find out what a crash has lost.
        files.plan { $0.kind == .openDirectory && $0.numberOfKind == 3 ? .waits(reached: reached, goOn: goOn) : nil }
        let reads = { @Sendable in files.log.count { $0.kind == .read } }
        let run = try AuditedRun(home.file("audit.log"), files: files, bytesPerDay: 2_000_000)
        reached.waitBlocking()
        let readsBefore = Recorder<Int>()
        let observation = run.trail.observe { status in
            if status.saved >= run.registry.revision, readsBefore.all.isEmpty { readsBefore.note(reads()) }
        }
        try run.set(2)
        run.trail.flush()
        goOn.open()
        run.time.waitUntilAsleep()
        #expect(lines(#""path":"A/B/X","old":1,"new":2}"#).count == 1)
        let before = try #require(readsBefore.all.first)
        #expect(reads() - before >= 10, "\(before) of \(reads())")
        #expect(run.trail.refusal(of: .user(1000)) != nil && run.trail.refusal(of: .user(1001)) == nil)
        withExtendedLifetime(observation) {}
        run.trail.close()
    }

    /// The audit bytes of a day, at the worst that one identity can do to one tweak.
    @Test func aDayOfFoldsIsBounded() throws {
        let run = try start()
        try spendBudget(run)
        let before = lines().joined().utf8.count
        for round in 1...60 {
            try set(run, .number(Double(round)), flushes: false)
            try set(run, .number(-1), flushes: false)
            run.time.advance(by: .seconds(10))
            run.time.waitUntilAsleep()
        }
        let perTenSeconds = (lines().joined().utf8.count - before) / 60
        #expect(perTenSeconds < 1_000, "two lines")
        run.trail.close()
    }
}
