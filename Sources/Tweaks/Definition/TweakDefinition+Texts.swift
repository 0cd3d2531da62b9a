// Rejects declarations whose texts could mislead a reader, such as invisible characters.

extension TweakDefinition {
    func checkTexts(_ path: TweakPath) throws(TweakError) {
        let texts = [unit, help] + choices.flatMap { [$0.name, $0.label] }
        for case let text? in texts where !Quoting.isSafe(text) {
            throw TweakError(
                .usage,
                "\(path.token): \(Quoting.excerpt(text)) contains control, invisible or bidirectional characters; "
                    + "remove them from names, units, choices and help", path: path)
        }
        if Set(choices.map(\.name)).count < choices.count {
            throw TweakError(.usage, "\(path.token): two choices have the same name", path: path)
        }
    }
}
