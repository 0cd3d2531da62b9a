// A slider that is dragged: many changes, one entry of the history, and no waiting for the disk before the end.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct DragTests {
    private static let path = "Content/Text/Size"

    private func drag(
        _ panel: PanelClient, _ value: Int, _ name: String? = "d1", isEnd: Bool = false
    ) throws -> PanelAnswer {
        try panel.patch(
            [(Self.path, "\(value)")], isEnd ? "" : #","settled":false"#, name.map { ["Tweaks-Drag: \($0)"] } ?? [])
    }

    private func history(_ panel: PanelClient) throws -> [[String: Any]] {
        try panel.ask("GET", "/api/history").items("history")
    }

    /// Over two connections, the first of which has shown nothing before.
    @Test func oneEntryOverTwoConnections() throws {
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
        #expect(server.number(Self.path) == 60)
        #expect(try first.ask("POST", "/api/undo", "{}").status == 409)
    }

    /// The next one is another one, on the same connection and at once.
    @Test func twoDragsAreTwoEntries() throws {
        let panel = try PanelServer().connect()
        for value in 20..<25 { _ = try drag(panel, value, "one") }
        for value in 30..<35 { _ = try drag(panel, value, "two") }
        #expect(try history(panel).count == 2)
    }

    /// A change of something else, or by someone else, comes between.
    @Test func whatComesBetweenIsNotSwallowed() throws {
        let server = try PanelServer()
        let (panel, line) = (try server.connect(), try server.connectByLine())
        _ = try drag(panel, 20)
        try line.ask("Content/Text/Size = 90")
        _ = try drag(panel, 21)
        #expect(
            try history(panel).compactMap { $0["by"] as? String } == ["token admin", "uid \(geteuid())", "token admin"])
    }

    /// Two who give their drags the same name are still two.
    @Test func thatOfAnotherTokenIsAnother() throws {
        let server = try PanelServer(.named("ops", .write))
        let (mine, others) = (try server.connect(), try server.connect("ops"))
        for value in 20..<24 { _ = try drag(value % 2 == 0 ? mine : others, value) }
        #expect(try history(mine).count == 4)
    }

    /// Without a name each connection's changes are as they were: those of one within half a second are one.
    @Test func withoutAName() throws {
        let server = try PanelServer()
        let (first, second) = (try server.connect(), try server.connect())
        for value in 20..<24 { _ = try drag(value % 2 == 0 ? first : second, value, nil) }
        #expect(try history(first).count == 4)
    }

    @Test func onlyTheLastOneWaitsForTheDisk() throws {
        let store = GatedStore(isRequired: false)
        let server = try PanelServer(store: store)
        let (panel, line) = (try server.connect(), try server.connectByLine())
        for value in 20..<25 { #expect(try drag(panel, value).status == 200) }
        // Nor does the disk hear of it at once.
        let noted = store.taken()
        #expect(noted.hasNews && !noted.isUrgent && store.hurries == 0)
        let end = panel.request(
            "PATCH", "/api/tweaks", PanelClient.changes([(Self.path, "31")]), ["Tweaks-Drag: d1"])
        try panel.client.send(end)
        #expect(server.registry.revision >= 6)
        try server.settle(line)
        #expect(!panel.client.hasInput)
        #expect(store.taken().isUrgent)
        store.finish(6)
        #expect(try panel.read().revision == 6)
        // What comes next is no part of it, and waits again.
        try panel.send("PATCH", "/api/tweaks", PanelClient.changes([(Self.path, "32")]))
        #expect(server.registry.revision >= 7)
        try server.settle(line)
        #expect(!panel.client.hasInput)
        store.finish(7)
        #expect(try panel.read().revision == 7)
    }

    /// The last change is often what the one before it was; the disk is told all the same that somebody waits.
    @Test func anEndThatChangesNothingHurries() throws {
        let store = GatedStore(isRequired: false)
        let server = try PanelServer(store: store)
        let panel = try server.connect()
        _ = try drag(panel, 20)
        try panel.send("PATCH", "/api/tweaks", PanelClient.changes([(Self.path, "20")]))
        #expect(store.hurries != 0)
        #expect(!panel.client.hasInput)
        store.finish(1)
        #expect(try panel.read().revision == 1)
    }
}
