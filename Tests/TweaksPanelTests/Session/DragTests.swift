// Tests drags of a slider: many changes, one entry of the history, and one wait for the disk at the end.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksStorage
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct DragTests {
    private func drag(
        _ panel: PanelClient, _ value: Int, _ name: String? = "d1", isEnd: Bool = false
    ) throws -> PanelAnswer {
        try panel.set(size: value, isEnd ? "" : #","settled":false"#, name.map { ["Tweaks-Drag: \($0)"] } ?? [])
    }

    private func history(_ panel: PanelClient) throws -> [[String: Any]] {
        try panel.ask("GET", "/api/history").items("history")
    }

    @Test func aDragOverTwoConnectionsIsOneEntry() throws {
        let server = try PanelServer()
        let (first, second) = (try server.connect(), try server.connect())
        for value in 20..<30 {
            #expect(try drag(value % 2 == 0 ? first : second, value).status == 200)
        }
        #expect(try drag(second, 31, isEnd: true).revision == 11)
        let history = try history(first)
        #expect(history.count == 1)
        let change = try #require((history.first?["changes"] as? [[String: Any]])?.first)
        #expect(change["was"] as? Double == 60 && change["value"] as? Double == 31)
        #expect(try second.ask("POST", "/api/undo", "{}").status == 200)
        #expect(server.number("Content/Text/Size") == 60)
        #expect(try first.ask("POST", "/api/undo", "{}").status == 409)
    }

    /// As the editor of a template sends them: both parts in a request, or one after the other.
    @Test(arguments: [[true, true, true], [false, false], [true, false]])
    func aDragOfTwoPartsIsOneEntry(requestsWithBoth: [Bool]) throws {
        let (server, panel) = try PanelServer.connected()
        for (round, isBoth) in requestsWithBoth.enumerated() {
            let changes = [("Content/Text/Size", "\(20 + round)"), ("Content/Text/Fade", "\"\(300 + round)ms\"")]
            for changes in isBoth ? [changes] : changes.map({ [$0] }) {
                #expect(try panel.patch(changes, #","settled":false"#, ["Tweaks-Drag: d1"]).status == 200)
            }
        }
        let history = try history(panel)
        #expect(history.count == 1 && (history.first?["changes"] as? [Any])?.count == 2)
        #expect(try panel.ask("POST", "/api/undo", "{}").status == 200)
        #expect(server.number("Content/Text/Size") == 60)
        #expect(server.registry["Content/Text/Fade"]?.value == .duration(.milliseconds(250)))
        #expect(try panel.ask("POST", "/api/undo", "{}").status == 409)
    }

    @Test func aChangeInBetweenIsItsOwnEntry() throws {
        let (_, panel, line) = try PanelServer.connectedWithLine()
        _ = try drag(panel, 20)
        try line.ask("Content/Text/Size = 90")
        _ = try drag(panel, 21)
        let users = try history(panel).compactMap { $0["by"] as? String }
        #expect(users == ["token admin", "uid \(geteuid())", "token admin"])
    }

    /// Without a name, only the changes of one connection within half a second are one.
    @Test func anotherNameOrTokenAndNoNameAreOtherEntries() throws {
        let server = try PanelServer(.named("ops", .write))
        let (first, second, ops) = (try server.connect(), try server.connect(), try server.connect("ops"))
        for (name, start) in [("one", 20), ("two", 25)] {
            for value in start..<start + 5 { _ = try drag(first, value, name) }
        }
        #expect(try history(first).count == 2)
        for value in 30..<34 { _ = try drag(value % 2 == 0 ? first : ops, value) }
        #expect(try history(first).count == 6)
        for value in 40..<44 { _ = try drag(value % 2 == 0 ? first : second, value, nil) }
        #expect(try history(first).count == 10)
    }

    @Test func onlyTheLastChangeWaitsForTheDisk() throws {
        let store = GatedStore(isRequired: false)
        let (server, panel, line) = try PanelServer.connectedWithLine(store: store)
        for value in 20..<25 { #expect(try drag(panel, value).status == 200) }
        // Nothing is flushed either.
        let noted = store.takePending()
        #expect(noted.hasUpdates && !noted.isUrgent && store.flushes == 0)
        try panel.send("PATCH", "/api/tweaks", PanelClient.size(31), ["Tweaks-Drag: d1"])
        #expect(server.registry.revision >= 6)
        try server.settle(line)
        #expect(!panel.client.hasInput)
        #expect(store.takePending().isUrgent)
        store.finish(6)
        #expect(try panel.read().revision == 6)
        // The next change is not part of the drag, and waits again.
        try panel.send(size: 32)
        #expect(server.registry.revision >= 7)
        try server.settle(line)
        #expect(!panel.client.hasInput)
        store.finish(7)
        #expect(try panel.read().revision == 7)
    }

    @Test func anEndWithTheSameValueFlushes() throws {
        let store = GatedStore(isRequired: false)
        let (_, panel) = try PanelServer.connected(store: store)
        _ = try drag(panel, 20)
        try panel.send(size: 20)
        #expect(store.flushes != 0)
        #expect(!panel.client.hasInput)
        store.finish(1)
        #expect(try panel.read().revision == 1)
    }
}
