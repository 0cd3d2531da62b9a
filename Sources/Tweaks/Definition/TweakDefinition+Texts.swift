// Refuses texts of a declaration that would mislead a reader.

extension TweakDefinition {
    func checkTexts(_ path: TweakPath) throws(TweakError) {
        if let scalar = path.joined.invisibleScalar {
            throw TweakError(
                .usage,
                "the name \(Quoting.excerpt(path.joined)) holds \(scalar.codePoint), which does not show; take it out",
                path: path)
        }
        let texts = [unit, help] + choices.flatMap { [$0.name, $0.label] }
        for case let text? in texts where !Quoting.isSafe(text) {
            throw TweakError(
                .usage,
                "\(path.token): \(Quoting.excerpt(text)) holds control or bidirectional characters; "
                    + "names, units, choices and help must not", path: path)
        }
        if Set(choices.map(\.name)).count < choices.count {
            throw TweakError(.usage, "\(path.token): two choices have the same name", path: path)
        }
    }
}
