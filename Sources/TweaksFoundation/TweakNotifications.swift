// Posts changes of tweaks to a notification center.

public import Foundation
public import Tweaks

/// A change of a tweak's current value, as the notification of the same name carries it.
///
/// ```swift
/// let notifications = TweakRegistry.shared.postChanges(to: .default)
/// center.addObserver(forName: TweakDidChange.name, object: nil, queue: .main) { notification in
///     guard let change = TweakDidChange(notification) else { return }
///     print("\(change.path) = \(change.new), by \(change.origin)")
/// }
/// ```
public struct TweakDidChange: Sendable, CustomStringConvertible {
    /// The name of the notification, `TweakDidChange`. Its object is the registry.
    public static let name = Notification.Name("TweakDidChange")

    /// The tweak.
    public let path: TweakPath
    /// The value before.
    public let old: TweakValue
    /// The value after.
    public let new: TweakValue
    /// The origin of the change.
    public let origin: TweakOrigin
    /// The registry's revision after it.
    public let revision: UInt64
    /// Whether the values must not be shown.
    public let isSecret: Bool
    /// `Content/Text/Size = 72 (was 60)`; for a secret only whether it is set.
    public let description: String

    private static let key = "TweakDidChange"

    fileprivate init(_ change: TweakCommit.Change, of commit: TweakCommit) {
        path = change.path
        old = change.old
        new = change.new
        origin = commit.origin
        revision = commit.revision
        isSecret = change.isSecret
        description = change.description
    }

    /// The change in a notification; nil for other notifications.
    public init?(_ notification: Notification) {
        guard let change = notification.userInfo?[Self.key] as? TweakDidChange else { return nil }
        self = change
    }

    fileprivate func notification(from registry: TweakRegistry?) -> Notification {
        Notification(name: Self.name, object: registry, userInfo: [Self.key: self])
    }
}

/// Posts the changes of a registry, until it is canceled or released.
public final class TweakNotifications: Sendable {
    private let task: Task<Void, Never>

    fileprivate init(_ registry: TweakRegistry, _ center: NotificationCenter) {
        // Follows from now on, not from the first turn of the task.
        let commits = registry.changes.makeAsyncIterator()
        task = Task.detached { [weak registry] in
            var commits = commits
            while let commit = await commits.next(), !Task.isCancelled {
                for change in commit.changes {
                    center.post(TweakDidChange(change, of: commit).notification(from: registry))
                }
            }
        }
    }

    /// Ends the notifications: no more of later commits are posted.
    public func cancel() { task.cancel() }

    deinit { cancel() }
}

extension TweakRegistry {
    /// Posts a ``TweakDidChange`` for each changed tweak, after each commit from now on, of any origin.
    ///
    /// They are posted in the order of the commits by a task of its own, soon after the change and on no particular
    /// thread: a view adds its observer with `queue: .main`. No lock is held, so observers may set tweaks. If they take long,
    /// earlier changes of a tweak are folded into its newest one. Figures are not included.
    /// - Parameter center: The notification center to post to.
    /// - Returns: The object to hold as long as notifications are wanted.
    public func postChanges(to center: NotificationCenter = .default) -> TweakNotifications {
        TweakNotifications(self, center)
    }
}
