// Tests that changes of tweaks are posted to a notification center.

import Foundation
import Testing
import Tweaks
import TweaksFoundation
import TweaksTestSupport

@Suite(.blocking) struct NotificationTests {
    private let registry = TweakRegistry()
    private let center = NotificationCenter()
    private let seen = Recorder<String>()

    /// Records the notifications until the result is removed.
    private func record() -> any NSObjectProtocol {
        center.addObserver(forName: TweakDidChange.name, object: registry, queue: nil) { [seen] notification in
            seen.note(TweakDidChange(notification).map { "\($0), \($0.origin) \($0.revision)" } ?? "nothing")
        }
    }

    @Test func eachChangedTweakOfACommitIsPostedInOrder() async throws {
        let size = Tweak("A", "B", "Size", 1, registry: registry)
        let title = Tweak("A", "B", "Title", "", registry: registry)
        let notifications = registry.postChanges(to: center)
        let token = record()
        try size.set(2)
        try registry.commit(origin: TweakOrigin("tests")) {
            $0.set(size, 3)
            $0.set(title, "x")
        }
        // A tweak that is declared later is posted, too, and a set of the same value is not.
        let late = Tweak("A", "B", "Late", false, registry: registry)
        try size.set(3)
        try late.set(true)
        #expect(seen.firstIndex { $0.hasPrefix("A/B/Late") } == 3)
        #expect(
            seen.all == [
                "A/B/Size = 2 (was 1), code 1", "A/B/Size = 3 (was 2), tests 2",
                "A/B/Title = \"x\" (was \"\"), tests 2", "A/B/Late = true (was false), code 3",
            ])
        center.removeObserver(token)
        withExtendedLifetime(notifications) {}
    }

    @Test func theValuesAreTyped() throws {
        let size = Tweak("A", "B", "Size", 1, registry: registry)
        let changes = Recorder<TweakDidChange>()
        let token = center.addObserver(forName: TweakDidChange.name, object: nil, queue: nil) { notification in
            if let change = TweakDidChange(notification) { changes.note(change) }
        }
        let notifications = registry.postChanges(to: center)
        try size.set(2)
        let change = try #require(changes.takeNext())
        #expect(change.path == size.path && change.old == .int(1) && change.new == .int(2) && !change.isSecret)
        #expect(TweakDidChange(Notification(name: TweakDidChange.name)) == nil)
        center.removeObserver(token)
        withExtendedLifetime(notifications) {}
    }

    @Test func theyEndWhenTheyAreReleasedOrCanceled() throws {
        let size = Tweak("A", "B", "Size", 1, registry: registry)
        let token = record()
        var first: TweakNotifications? = registry.postChanges(to: center)
        try size.set(2)
        #expect(seen.takeNext() == "A/B/Size = 2 (was 1), code 1")
        withExtendedLifetime(first) {}
        first = nil
        let second = registry.postChanges(to: center)
        second.cancel()
        // The first two have ended before the third posts its first change.
        let third = registry.postChanges(to: center)
        try size.set(3)
        #expect(seen.takeNext() == "A/B/Size = 3 (was 2), code 2")
        try size.set(4)
        #expect(seen.takeNext() == "A/B/Size = 4 (was 3), code 3")
        #expect(seen.all.count == 3)
        center.removeObserver(token)
        withExtendedLifetime((second, third)) {}
    }

    @Test func aSecretIsNotInTheDescription() throws {
        let token = Tweak("A", "B", "Token", "", flags: .secret, registry: registry)
        let notifications = registry.postChanges(to: center)
        let observer = record()
        try token.set("hush")
        #expect(seen.takeNext() == "A/B/Token = (set), code 1")
        center.removeObserver(observer)
        withExtendedLifetime(notifications) {}
    }

    @Test func theyDoNotRetainTheRegistry() throws {
        var registry: TweakRegistry? = TweakRegistry()
        weak let released = registry
        let notifications = try #require(registry).postChanges(to: center)
        registry = nil
        #expect(released == nil)
        withExtendedLifetime(notifications) {}
    }
}
