// Defines what a source of values is: a layer, its values, and when they change.

/// A source of values beside the code: a file in a format of its own, a feature service, a table of a database.
///
/// Its values are a layer of each tweak, which `explain` names. The daemon opens its sources in the order in which
/// they are named; the layer's rank, and not that order, says which value wins.
///
/// ```swift
/// struct Fixed: TweakValueSource {
///     let layer = TweakLayer("site defaults", rank: 50)
///
///     func start(_ sink: TweakSourceSink) throws {
///         sink.replace([try TweakPath("Content/Text/Size"): .value(.number(40))])
///     }
/// }
///
/// try TweakDaemon.start("bounce", sources: [TweakDaemon.Source(Fixed())])
/// ```
///
/// A source gives its values to the sink, or is asked for each tweak by ``entry(for:)``, whichever is simpler. The
/// guide *Your own source* shows one on a page.
public protocol TweakValueSource: Sendable {
    /// The layer of its values: a name and a rank that no other source has. Read once, when the source is opened.
    var layer: TweakLayer { get }

    /// Gives the last good values to the sink, without waiting for what may not answer: until this returns, no socket
    /// is open. Called once, on the thread that starts the daemon.
    func load(_ sink: TweakSourceSink)

    /// Starts to follow what the values come from. Called once, when the sockets are open, on the thread that starts
    /// the daemon; returns at once, and goes on on threads or tasks of its own.
    /// - Throws: Why the program should not run without this source. The daemon does not start then, and ``stop()`` is
    ///   called.
    func start(_ sink: TweakSourceSink) throws

    /// Ends what ``start(_:)`` began, in bounded time: the end of the program waits for it. The values stay; later calls
    /// of the sink change nothing. Called once, on the thread that stops the daemon, also if the start has failed.
    func stop()

    /// Looks for changes now, at a `SIGHUP` or the command `reload`, whose reply waits for this. Called on any thread.
    func reload()

    /// What `stats` says of the source. A name follows the layer's: `("state", .string("followed"))` of the layer
    /// `feature service` is shown as `featureServiceState: followed`. Called on the server's thread, so it must not
    /// wait; nil is shown as `null`.
    var status: [(name: String, value: TweakValue?)] { get }

    /// The value for a tweak; nil if the source has none, or has given it to the sink.
    ///
    /// Called when a tweak registers, before it can be read, and when the source is opened for the tweaks that are
    /// registered already: for the tweak's path, then for its former ones; possibly more than once, and on any thread.
    /// A later change of the value is given to the sink.
    func entry(for path: TweakPath) -> TweakSourceEntry?

    /// The same for a source that has to know the tweak: its kind, its unit, or whether it is secret.
    ///
    /// By default it asks ``entry(for:)``. While the tweak registers, its value is the default.
    /// - Parameters:
    ///   - path: The tweak's path, or a former one.
    ///   - tweak: The tweak.
    func entry(for path: TweakPath, of tweak: AnyTweak) -> TweakSourceEntry?
}

extension TweakValueSource {
    /// Loads nothing.
    public func load(_ sink: TweakSourceSink) {}

    /// Does nothing, for a source that follows nothing.
    public func stop() {}

    /// Does nothing, for a source that notices changes by itself.
    public func reload() {}

    /// Says nothing.
    public var status: [(name: String, value: TweakValue?)] { [] }

    /// Has no value: the source gives its values to the sink.
    public func entry(for path: TweakPath) -> TweakSourceEntry? { nil }

    /// Asks ``entry(for:)``.
    public func entry(for path: TweakPath, of tweak: AnyTweak) -> TweakSourceEntry? { entry(for: path) }
}

/// A value that a source has for a tweak.
///
/// ```swift
/// let entry = TweakSourceEntry.text("40", origin: TweakOrigin("features.json:12"))
/// ```
public struct TweakSourceEntry: Equatable, Sendable {
    let content: StoredEntry.Content
    /// Who set it, as `explain` shows it; nil for the layer's name.
    public let origin: TweakOrigin?
    /// When it was set; nil for now.
    let time: Moment?

    /// A text that the tweak's kind parses, as a config file has it, without quotes: `40`, `250ms`, `orange`.
    public static func text(_ text: String, origin: TweakOrigin? = nil) -> TweakSourceEntry {
        TweakSourceEntry(content: .text(text), origin: origin, time: nil)
    }

    /// A value of the tweak's kind. Whole numbers fit tweaks of numbers as well.
    public static func value(_ value: TweakValue, origin: TweakOrigin? = nil) -> TweakSourceEntry {
        TweakSourceEntry(content: .value(value), origin: origin, time: nil)
    }

    func stored(_ path: TweakPath, _ layer: TweakLayer, at now: Moment) -> StoredEntry {
        StoredEntry(path: path, content: content, origin: origin ?? TweakOrigin(layer.name), time: time ?? now)
    }
}

/// What one bad value does to the others of a call.
public enum TweakSourceRule: Sendable {
    /// Each value is judged by itself. Where one is bad, the tweak keeps what the source gave before, and the log and
    /// `explain` say why.
    case each
    /// One bad value refuses all: nothing changes, and the source reports the refusals.
    case allOrNothing
}

/// What became of a call of a sink.
public struct TweakSourceResult: Sendable {
    /// The registry's revision afterwards.
    public let revision: UInt64
    /// The bad values, in the order of their paths; with ``TweakSourceRule/allOrNothing`` the first hundred.
    public let refusals: [TweakError]
    /// The tweaks whose value of this source has changed, or would change, in listing order.
    public let changed: [TweakPath]
    /// The number of values whose tweaks are not registered; they take effect when they are.
    public let pending: Int
    /// Whether the call did nothing, because the source is stopped or the process is frozen.
    public let isIgnored: Bool

    init(_ difference: LayerDifference) {
        revision = difference.revision
        refusals = (difference.problems.first.map(\.error) + difference.refused.map(\.reason)).sorted {
            ($0.path?.joined ?? "") < ($1.path?.joined ?? "")
        }
        changed = difference.changes.map(\.path)
        pending = difference.unknownCount
        isIgnored = difference.isIgnored
    }
}
