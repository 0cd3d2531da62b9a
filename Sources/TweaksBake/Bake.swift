// Makes the overrides of a process the defaults in its source.

package import Tweaks
package import TweaksSystem

/// What is to be written into files, and what cannot be.
package struct Bake: Sendable {
    /// A file with new defaults.
    package struct File: Sendable {
        package let path: String
        /// The tweaks whose defaults change.
        package let tweaks: [TunedTweak]
        /// The lines of a unified diff.
        package let diff: [String]
        fileprivate let file: SourceFile
        fileprivate let old: [UInt8]
        fileprivate let new: [UInt8]

        /// Writes the new defaults in one step.
        /// - Returns: False, and nothing has changed, if the file has changed meanwhile.
        package func write() throws(FileProblem) -> Bool { try file.replace(old, with: new) }
    }

    /// A tweak whose default is not rewritten.
    package struct Problem: Sendable {
        package let path: TweakPath
        /// The file and line, as far as they are known.
        package let place: String
        /// A predicate of the tweak, and the remedy.
        package let reason: String
    }

    package private(set) var files: [File] = []
    package private(set) var problems: [Problem] = []

    /// - Parameters:
    ///   - sources: Folders and files.
    /// - Throws: The reason why a folder cannot be read.
    package init(_ tweaks: [TunedTweak], in sources: [String]) throws(FileProblem) {
        let found = try SourceFiles(sources, named: Set(tweaks.map(\.place.file)))
        var groups: [(file: SourceFile, tweaks: [TunedTweak])] = []
        for tweak in tweaks {
            do throws(BakeRefusal) {
                try tweak.check()
                let file = try found.file(tweak.place)
                if let group = groups.firstIndex(where: { $0.file.path == file.path }) {
                    groups[group].tweaks.append(tweak)
                } else {
                    groups.append((file, [tweak]))
                }
            } catch {
                problems.append(Problem(path: tweak.path, place: tweak.place.description, reason: error.description))
            }
        }
        for group in groups { add(group.file, group.tweaks) }
    }

    private mutating func add(_ file: SourceFile, _ tweaks: [TunedTweak]) {
        let bytes: [UInt8]
        do throws(FileProblem) {
            bytes = try file.read()
        } catch {
            for tweak in tweaks { report(tweak, file.path, "is in a file that cannot be read: \(error.reason)") }
            return
        }
        guard let baked = BakedSource(bytes, tweaks) else {
            for tweak in tweaks { report(tweak, file.path, "is in a file that is not UTF-8; write it by hand") }
            return
        }
        for (tweak, refusal) in baked.refusals { report(tweak, file.path, refusal.description) }
        if baked.bytes == bytes { return }
        files.append(
            File(
                path: file.path, tweaks: baked.tweaks, diff: baked.diff(file.path), file: file, old: bytes,
                new: baked.bytes))
    }

    private mutating func report(_ tweak: TunedTweak, _ path: String, _ reason: String) {
        problems.append(Problem(path: tweak.path, place: "\(path):\(tweak.place.line)", reason: reason))
    }
}

/// One file with the new defaults of its tweaks.
package struct BakedSource: Sendable {
    /// The tweaks whose new defaults are in it.
    package private(set) var tweaks: [TunedTweak] = []
    package private(set) var refusals: [(TunedTweak, BakeRefusal)] = []
    private var edits: [SourceEdit] = []
    private let old: [UInt8]
    /// The new content.
    package private(set) var bytes: [UInt8]

    /// The lines of a unified diff; none without a change.
    /// - Parameter path: The path of the file in it.
    package func diff(_ path: String) -> [String] { UnifiedDiff(old, edits).text(path) }

    /// Tweaks that one expression declares: the parts of a group, or a single one.
    private struct Site {
        let declaration: Declaration
        var tweaks: [TunedTweak]
    }

    /// Nil for a file that is not UTF-8.
    package init?(_ bytes: [UInt8], _ tuned: [TunedTweak]) {
        guard let source = SwiftSource(bytes) else { return nil }
        self.bytes = bytes
        old = bytes
        var written: [Site] = []
        for site in sites(tuned, source) {
            do throws(BakeRefusal) {
                edits += try Self.edits(site, source)
                written.append(site)
            } catch {
                for tweak in site.tweaks { refusals.append((tweak, error)) }
            }
        }
        guard let new = SourceEdit.apply(edits, to: bytes), isTrue(written, source, new) else {
            edits = []
            for tweak in written.flatMap(\.tweaks) { refusals.append((tweak, SwiftSpelling.unknownForm)) }
            return
        }
        self.bytes = new
        tweaks = written.flatMap(\.tweaks)
    }

    private mutating func sites(_ tuned: [TunedTweak], _ source: SwiftSource) -> [Site] {
        var sites: [Site] = []
        for tweak in tuned {
            do throws(BakeRefusal) {
                let declaration = try DeclarationFinder(tweak.path, in: source).declaration(at: tweak.place.line)
                let known = sites.firstIndex {
                    $0.declaration.group == declaration.group && $0.declaration.value == declaration.value
                }
                if let known {
                    sites[known].tweaks.append(tweak)
                } else {
                    sites.append(Site(declaration: declaration, tweaks: [tweak]))
                }
            } catch {
                refusals.append((tweak, error))
            }
        }
        return sites
    }

    private static func literal(_ declaration: Declaration, _ reader: SwiftReader) throws(BakeRefusal) -> SwiftLiteral {
        let literals = LiteralReader(reader)
        let found =
            declaration.isProperty ? literals.initialValue(declaration.value) : literals.literal(declaration.value)
        guard let found else { throw .notALiteral }
        return found
    }

    private static func edits(_ site: Site, _ source: SwiftSource) throws(BakeRefusal) -> [SourceEdit] {
        let reader = SwiftReader(source, site.declaration.group)
        let literal = try literal(site.declaration, reader)
        if site.declaration.part != nil {
            return try TemplateArguments(reader).edits(literal, try parts(site, source))
        }
        let tweak = site.tweaks[0]
        guard literal.value(tweak.shape) != nil else { throw .notALiteral }
        guard literal.equals(tweak.standard, tweak.shape) else { throw .differs(from: tweak.standard) }
        if let range = site.declaration.range { try tweak.check(range, reader) }
        return try SwiftSpelling(source: source, type: site.declaration.type).edits(
            literal, to: tweak.value, tweak.shape
        ).map { $0.separated(in: source.bytes) }
    }

    /// The parts of a group, by the names that its template gives them.
    private static func parts(_ site: Site, _ source: SwiftSource) throws(BakeRefusal) -> [TemplatePart] {
        var parts: [TemplatePart] = []
        for tweak in site.tweaks {
            let finder = DeclarationFinder(tweak.path, in: source)
            let name = try finder.declaration(at: tweak.place.line).part ?? ""
            parts.append(TemplatePart(name: name, old: tweak.standard, new: tweak.value, shape: tweak.shape))
        }
        return parts
    }

    /// Whether the new file declares the new defaults: what was written is read again.
    private func isTrue(_ sites: [Site], _ source: SwiftSource, _ new: [UInt8]) -> Bool {
        guard let written = SwiftSource(new) else { return false }
        return sites.allSatisfy { site in
            let line = Self.line(of: site.declaration, source, after: edits)
            return site.tweaks.allSatisfy { tweak in
                guard let found = try? DeclarationFinder(tweak.path, in: written).declaration(at: line),
                    case let reader = SwiftReader(written, found.group), let literal = try? Self.literal(found, reader)
                else { return false }
                if let part = found.part {
                    let same = TemplatePart(name: part, old: tweak.value, new: tweak.value, shape: tweak.shape)
                    return (try? TemplateArguments(reader).edits(literal, [same])) == []
                }
                return literal.equals(tweak.value, tweak.shape)
            }
        }
    }

    /// The first line of a declaration after edits before it.
    private static func line(of declaration: Declaration, _ source: SwiftSource, after edits: [SourceEdit]) -> Int {
        func count(_ bytes: some Sequence<UInt8>) -> Int { bytes.reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) } }
        let start = source.groups[declaration.group].tokens[declaration.value.lowerBound].range.lowerBound
        return edits.reduce(declaration.lines.lowerBound) { line, edit in
            guard edit.range.upperBound <= start, edit.range.lowerBound < start else { return line }
            return line + count(edit.text.utf8) - count(source.bytes[edit.range])
        }
    }
}
