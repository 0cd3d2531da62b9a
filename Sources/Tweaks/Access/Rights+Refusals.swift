// What somebody is told who may not do something.

extension Rights {
    /// What is lacking for one tweak, which is seen.
    package func denied(_ kind: TweakScope.Kind, _ path: TweakPath) -> TweakError {
        let had = words.isEmpty ? "nothing" : words.joined(separator: " ")
        return TweakError(
            .denied,
            "\(path.token): this session may \(had); request \(kind.rawValue):\(path.joined), or show a token",
            path: path)
    }
}
