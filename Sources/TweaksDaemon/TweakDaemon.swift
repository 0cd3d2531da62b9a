// Starts a daemon, which makes a program's tweaks editable, durable and reloadable.

public import Tweaks
public import TweaksInterface
import TweaksSystem

#if Server
    import TweaksServing
#endif

extension TweakDaemon {
    /// Serves a registry's tweaks, and reports the addresses before the first connection is accepted.
    /// - Parameters:
    ///   - name: The program's name: letters, digits, `.`, `_` and `-`. It names the socket and the folder.
    ///   - configuration: All other settings.
    ///   - tweaks: Tweaks, groups, actions and lists of them to register first, beside those of modules with a
    ///     `TweakList`. Statics are lazy: one that was never accessed would be missing from every list.
    /// - Throws: `ServerError` with the cause and the remedy.
    @discardableResult
    public static func start(
        _ name: String, _ configuration: Configuration, tweaks: any TweakHandle...
    ) throws(ServerError) -> TweakDaemon {
        openClosedStreams()
        if FrozenTrait.isOn {
            log(name, configuration)(.warning("built with the Frozen trait: tweaks are constants; nothing is served"))
            return TweakDaemon(nil)
        }
        #if Server
            return try TweakDaemon(serving: name, configuration, declare: registerLists)
        #else
            registerLists()
            log(name, configuration)(
                .warning(
                    "nothing is served or kept: the program is built without the trait Server; name it at the "
                        + "dependency on Tweaks"))
            return TweakDaemon(nil)
        #endif
    }

    /// Opens `/dev/null` for each of standard input, output and error that is closed. Starting a daemon calls it; a
    /// program that opens files or sockets before that calls it first, or the first one opened receives its log.
    public static func openClosedStreams() { StandardStreams.occupy(.quiet) }

    private static func log(_ name: String, _ configuration: Configuration) -> EventHandler {
        if let onEvent = configuration.onEvent { return onEvent }
        #if Server
            return StandardLog(name).write
        #else
            return { event in StandardError.write(event.lines.map { "\(name): \($0)\n" }.joined()) }
        #endif
    }
}
