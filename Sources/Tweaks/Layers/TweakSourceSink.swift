// Takes the values of one source, and gives it what it needs of its daemon.

import Synchronization

/// Where a source puts its values, and what it knows of its daemon.
///
/// It can be used on any thread, also by several at once: each call is one commit, and takes effect as if the calls came
/// one after the other. Observers run on the server's threads, as for changes by clients. It calls no code of the
/// program under a lock. The values of tweaks that are not registered stay pending until they register.
///
/// ```swift
/// let result = sink.update([path: .text("40"), other: nil])
/// for refusal in result.refusals { sink.warn(refusal.message) }
/// ```
public final class TweakSourceSink: Sendable {
    /// The source's layer.
    public let layer: TweakLayer
    /// The daemon's name.
    public let daemon: String
    /// The environment of the process.
    public let environment: [String: String]
    /// A directory for files that outlive the process; nil where nothing is stored, or another process has the
    /// directory. The daemon's own files are in it, too: begin names with the source's.
    public let directory: String?

    package let registry: TweakRegistry
    /// The claim of the layer; nil in tests, where it is always open.
    private let claim: LayerClaim?
    private let report: @Sendable (_ text: String, _ isProblem: Bool) -> Void
    /// Whether the program starts: its values begin with those of the source, which is no change.
    private let isLoading: Atomic<Bool>
    private let hasFailed = Atomic(false)

    init(_ claim: LayerClaim, _ registry: TweakRegistry, _ setting: SourceSetting) {
        layer = claim.layer
        daemon = setting.daemon
        environment = setting.environment
        directory = setting.directory
        report = { [layer] in setting.report(layer, $0, $1) }
        self.registry = registry
        self.claim = claim
        isLoading = Atomic(true)
    }

    /// A sink without a daemon, for tests.
    package init(_ layer: TweakLayer, _ registry: TweakRegistry) {
        self.layer = layer
        self.registry = registry
        daemon = ""
        environment = [:]
        directory = nil
        report = { _, _ in }
        claim = nil
        isLoading = Atomic(false)
    }

    /// Whether the program ends by an error, so that its end is no orderly one.
    package var hasProgramFailed: Bool { hasFailed.load(ordering: .acquiring) }

    func noteFailure() { hasFailed.store(true, ordering: .releasing) }

    // MARK: Values

    /// Replaces all values of the source: those of other tweaks are removed.
    /// - Parameters:
    ///   - values: The values by path. A path may be a tweak's former one; of two names of a tweak, the present one wins.
    ///   - rule: What one bad value does to the others.
    ///   - origin: Who made the change, as events and history show it; nil for the layer's name.
    @discardableResult
    public func replace(
        _ values: [TweakPath: TweakSourceEntry], _ rule: TweakSourceRule = .each, origin: TweakOrigin? = nil
    ) -> TweakSourceResult {
        apply(values, changed: Set(values.keys), rule, isWhole: true, origin: origin)
    }

    /// Changes the values of some tweaks; nil removes one. A former name of a tweak stands for the tweak: it changes the
    /// value that was given under the present name.
    /// - Parameters:
    ///   - changes: The new values by path.
    ///   - rule: What one bad value does to the others.
    ///   - origin: Who made the change, as events and history show it; nil for the layer's name.
    @discardableResult
    public func update(
        _ changes: [TweakPath: TweakSourceEntry?], _ rule: TweakSourceRule = .each, origin: TweakOrigin? = nil
    ) -> TweakSourceResult {
        apply(changes.compactMapValues(\.self), changed: Set(changes.keys), rule, isWhole: false, origin: origin)
    }

    /// Judges changes as ``update(_:_:origin:)`` does, each by itself, and changes nothing.
    public func check(_ changes: [TweakPath: TweakSourceEntry?]) -> TweakSourceResult {
        apply(
            changes.compactMapValues(\.self), changed: Set(changes.keys), .each, isWhole: false, origin: nil,
            isDry: true)
    }

    /// The tweaks whose value of this source is hidden by an override, in listing order.
    public var coveredPaths: [TweakPath] { registry.coveredPaths(of: layer) }

    private func apply(
        _ values: [TweakPath: TweakSourceEntry], changed: Set<TweakPath>, _ rule: TweakSourceRule, isWhole: Bool,
        origin: TweakOrigin?, isDry: Bool = false
    ) -> TweakSourceResult {
        let now = registry.currentTime
        let stored = Dictionary(uniqueKeysWithValues: values.map { ($0, $1.stored($0, layer, at: now)) })
        let policy = LayerPolicy(
            isWhole: isWhole, isEach: rule == .each, listedProblems: AssignmentRules.maxListedProblems)
        let difference = registry.update(
            layer, to: stored, changed: changed, policy, by: claim, origin: origin,
            isStart: isLoading.load(ordering: .relaxed), isDry: isDry, delivery: .executor)
        return TweakSourceResult(difference)
    }

    /// Changes values as ``TweakRegistry`` does for a source that keeps all of them.
    package func update(
        to values: [TweakPath: StoredEntry], changed: Set<TweakPath>, origin: TweakOrigin, isStart: Bool
    ) -> LayerDifference {
        registry.update(
            layer, to: values, changed: changed, by: claim, origin: origin, isStart: isStart, delivery: .executor)
    }

    // MARK: Log

    /// Logs what an operator may want to know, such as that the source is followed again.
    public func log(_ text: String) { report(text, false) }

    /// Logs what needs the attention of an operator: the subject, what is wrong, and the remedy.
    public func warn(_ text: String) { report(text, true) }

    /// Ends the start: from now on the source's changes are recorded.
    func endLoading() { isLoading.store(false, ordering: .relaxed) }
}

/// What a daemon gives to the sinks of its sources.
package struct SourceSetting: Sendable {
    let daemon: String
    let environment: [String: String]
    let directory: String?
    let report: @Sendable (_ layer: TweakLayer, _ text: String, _ isProblem: Bool) -> Void

    package init(
        daemon: String, environment: [String: String] = [:], directory: String? = nil,
        report: @escaping @Sendable (_ layer: TweakLayer, _ text: String, _ isProblem: Bool) -> Void = { _, _, _ in }
    ) {
        self.daemon = daemon
        self.environment = environment
        self.directory = directory
        self.report = report
    }
}
