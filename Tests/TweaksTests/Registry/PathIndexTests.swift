// Tests the hash table of paths against a dictionary, through thousands of insertions and removals.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct PathIndexTests {
    /// A table, the nodes it refers to, and its expected slots.
    private struct Model {
        var index = PathIndex()
        var nodes: [TweakNode?] = []
        var slots: [TweakPath: Int] = [:]
        var free: [Int] = []
        static let runner = ActionRunner(timeLimit: .zero, concurrently: false) { _ in "" }

        mutating func insert(_ path: TweakPath) {
            let slot = free.popLast() ?? nodes.count
            if slot == nodes.count { nodes.append(nil) }
            nodes[slot] = TweakNode(
                path: path, definition: TweakDefinition(kind: .action), source: TweakSource(fileID: "F", line: 1),
                slot: slot, sequence: 0, declaredAt: .now, content: .action(Self.runner))
            index.insert(slot, in: nodes)
            slots[path] = slot
        }

        mutating func remove(_ path: TweakPath) {
            guard let slot = slots.removeValue(forKey: path) else { return }
            index.remove(slot, in: nodes)
            nodes[slot] = nil
            free.append(slot)
        }

        func find(_ path: TweakPath) -> Int? { path.withBytes { index.find($0, in: nodes) } }
    }

    @Test func agreesWithADictionary() throws {
        var (random, model) = (SeededGenerator(seed: 21), Model())
        let paths = try (0..<400).map { try TweakPath("c\($0 % 3)", "k\($0 % 17)", "\($0)") }
        for round in 0..<6_000 {
            guard let path = paths.randomElement(using: &random) else { continue }
            // Fills up, empties, fills up again: tombstones must neither hide a path nor fill the table.
            let isFilling = (round / 1_000).isMultiple(of: 2)
            if model.slots[path] == nil, Int.random(in: 0..<4, using: &random) < (isFilling ? 3 : 1) {
                model.insert(path)
            } else if !isFilling || Int.random(in: 0..<4, using: &random) == 0 {
                model.remove(path)
            }
            #expect(model.find(path) == model.slots[path])
            if round.isMultiple(of: 500) { #expect(paths.allSatisfy { model.find($0) == model.slots[$0] }) }
        }
        #expect(!model.slots.isEmpty)
    }

    @Test func thousandsOfPathsAreInsertedAndRemoved() throws {
        var model = Model()
        let paths = try (0..<3_000).map { try TweakPath("Category", "Collection \($0 % 100)", "Name \($0)") }
        for path in paths { model.insert(path) }
        #expect(paths.allSatisfy { model.find($0) == model.slots[$0] })
        for path in paths { model.remove(path) }
        #expect(paths.allSatisfy { model.find($0) == nil })
    }

    @Test func insertingAndRemovingOnePathOftenKeepsTheOther() throws {
        var model = Model()
        let (path, other) = try (TweakPath("a/b/c"), TweakPath("a/b/d"))
        model.insert(other)
        for _ in 0..<5_000 {
            model.insert(path)
            model.remove(path)
        }
        #expect(model.find(path) == nil && model.find(other) == 0)
    }

    @Test func pathsAreComparedByBytes() throws {
        var model = Model()
        let (composed, decomposed) = try (TweakPath("é/b/c"), TweakPath("e\u{301}/b/c"))
        model.insert(composed)
        #expect(model.find(composed) == 0 && model.find(decomposed) == nil)
        for text in ["", "é", "é/b", "é/b/c/", "é/b/cc", "/b/c"] {
            #expect(text.withBytes { model.index.find($0, in: model.nodes) } == nil)
        }
    }
}
