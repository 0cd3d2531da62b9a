// Builds the error for a missing permission.

extension Rights {
    /// The error for a missing permission on one visible tweak.
    package func denied(_ kind: TweakScope.Kind, _ path: TweakPath) -> TweakError {
        let granted = words.isEmpty ? "nothing" : words.joined(separator: " ")
        return TweakError(
            .denied,
            "\(path.token): this session may \(granted); request \(kind.rawValue):\(path.joined), "
                + "or sign in with a token",
            path: path)
    }
}
