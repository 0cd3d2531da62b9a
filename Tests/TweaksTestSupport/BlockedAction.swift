// An action that a test holds.

package import Tweaks

/// An action that runs until the test releases it; it prints `done`.
package struct BlockedAction {
    package let began = Gate()
    package let released = Gate()

    /// Registers the action.
    package init(_ path: String = "A/B/Act", timeLimit: Duration = .seconds(3_600), in registry: TweakRegistry) {
        let (began, released, parts) = (began, released, path.split(separator: "/").map { String($0) })
        tweakAction(parts[0], parts[1], parts[2], timeLimit: timeLimit, registry: registry) { _ in
            began.open()
            await released.wait()
            return "done"
        }
    }
}
