// Creates the errors of refused changes.

extension TweakNode {
    /// The tweak was removed.
    // Has no suggestion of similar paths: it is thrown under the lock, which the listing needs, too.
    var notRegistered: TweakError {
        TweakError(.unknownTweak, "\(path.token) is no longer registered here; see ls or find", path: path)
    }

    var frozen: TweakError {
        TweakError(
            .readOnly, "\(path.token): this process is frozen (TWEAKS_FROZEN); nothing can be set", path: path)
    }

    /// There is no temporary override to keep.
    var notTemporary: TweakError {
        TweakError(
            .conflict, "\(path.token) has no temporary override to keep; explain \(path.token) shows what it has",
            path: path)
    }

    /// An action or figure cannot be set or reset.
    package var notSettable: TweakError {
        definition.kind == .action
            ? TweakError(.badValue, "\(path.token) is an action and has no value; use: run \(path.token)", path: path)
            : TweakError(
                .readOnly, "\(path.token) is a figure that the program publishes; it cannot be set", path: path)
    }
}

extension TweakRegistry {
    /// The error for a path or pattern that matches nothing.
    package func unknown(_ text: String) -> TweakError { TweakView(self).unknown(text) }
}
