// Caches the constant texts of a tweak that every listing repeats.

import Synchronization

/// The constant parts of the lines that show a tweak, as UTF-8.
package final class NodeTexts: Sendable {
    /// `PATH = `
    package let assignment: [UInt8]
    /// `number 10...100 step 0.5 pt`, `action FILE [VOLUME]`
    package let summary: [UInt8]
    /// `, needs-restart`
    package let flags: [UInt8]

    init(_ node: TweakNode) {
        assignment = Array("\(node.path.token) = ".utf8)
        let usage = node.signature.map { " \($0.usage)" } ?? ""
        summary = Array((usage == " " ? node.definition.summary : node.definition.summary + usage).utf8)
        flags = Array(node.definition.flags.words.map { ", \($0)" }.joined().utf8)
    }
}

extension TweakNode {
    /// The texts, created at their first use: most tweaks of a large program are never listed.
    package var texts: NodeTexts {
        // AtomicLazyReference, inlined by hand: this is read for each reply.
        if let known = textsReference { return known.takeUnretainedValue() }
        let made = Unmanaged.passRetained(NodeTexts(self))
        let address = UInt(bitPattern: made.toOpaque())
        let (isFirst, _) = textsAddress.compareExchange(
            expected: 0, desired: address, ordering: .acquiringAndReleasing)
        if !isFirst { made.release() }
        return textsReference?.takeUnretainedValue() ?? NodeTexts(self)
    }

    private var textsReference: Unmanaged<NodeTexts>? {
        UnsafeRawPointer(bitPattern: textsAddress.load(ordering: .acquiring)).map { Unmanaged.fromOpaque($0) }
    }

    /// Releases the object that `texts` retained.
    func releaseTexts() { textsReference?.release() }
}

extension TweakDefinition {
    /// The constraints in one line: `number 10...100 step 0.5 pt`, `choice left|center|right`.
    package var summary: String {
        var text = kind.rawValue
        if let component { text += " of " + component.kind.rawValue }
        if let shownFormat { text += " " + shownFormat.name }
        if !names.isEmpty { text += " " + choiceSummary }
        if let rangeText { text += " \(rangeText)" }
        if scale != .linear { text += " \(scale.rawValue)" }
        if let step { text += " step \(step.text)" }
        if let minLength { text += " at least \(minLength)" }
        if let maxLength { text += " up to \(maxLength) " + (kind == .list ? "values" : "characters") }
        if let unit { text += " \(unit)" }
        return text
    }

    /// The choices of the value, or of the elements of a container.
    private var names: [TweakChoice<String>] { component?.choices ?? choices }

    /// The names of the choices; of a long list the first eight and the count.
    private var choiceSummary: String {
        let choices = names
        let names = choices.prefix(8).map { TweakValue.choice($0.name).text }.joined(separator: "|")
        return choices.count > 8 ? names + "|… (\(choices.count))" : names
    }
}
