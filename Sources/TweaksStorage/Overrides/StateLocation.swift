// Finds the program's state directory from the environment, the program, or the system's conventions.

/// Finds the directory for stored overrides, without touching any file.
package enum StateLocation {
    /// Why there is no directory.
    package struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
        /// Names the variable, the problem and the remedy.
        package let description: String

        package init(_ description: String) { self.description = description }
    }

    /// The directory; nil if `TWEAKS_STATE_DIR` is `off`.
    ///
    /// A named directory is used as it is; in the default location the program gets its own folder.
    /// - Parameters:
    ///   - code: The program's setting; the environment overrides it.
    ///   - program: The name of the folder.
    package static func directory(
        named code: String?, program: String, environment: [String: String]
    ) -> Result<String, Problem>? {
        if let named = text("TWEAKS_STATE_DIR", environment) {
            return named.lowercased() == "off" ? nil : absolute(named, "TWEAKS_STATE_DIR=\(named)")
        }
        if let code, !code.isEmpty { return absolute(code, "the state directory “\(code)” of the program") }
        if let list = text("STATE_DIRECTORY", environment) {
            // The service manager passes all directories of a unit, and has created them.
            let first = list.split(separator: ":", omittingEmptySubsequences: false).first.map { String($0) } ?? ""
            return absolute(first, "STATE_DIRECTORY=\(list)")
        }
        return customary(environment).map { "\($0)/\(program)" }
    }

    private static func customary(_ environment: [String: String]) -> Result<String, Problem> {
        #if canImport(Darwin)
            let folder = "Library/Application Support"
        #else
            let folder = ".local/state"
            // The XDG standard requires ignoring a relative path.
            if let state = text("XDG_STATE_HOME", environment), state.hasPrefix("/") { return absolute(state, state) }
        #endif
        guard let home = text("HOME", environment) else {
            return .failure(
                Problem("HOME is not set, so there is no place for overrides; name one in TWEAKS_STATE_DIR"))
        }
        return absolute(home, "HOME=\(home)").map { $0 == "/" ? "/\(folder)" : "\($0)/\(folder)" }
    }

    private static func absolute(_ path: String, _ subject: String) -> Result<String, Problem> {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else {
            return .failure(Problem("\(subject): a state directory must be an absolute path; write one, or off"))
        }
        var path = path
        while path.hasSuffix("/"), path != "/" { path.removeLast() }
        return .success(path)
    }

    private static func text(_ name: String, _ environment: [String: String]) -> String? {
        environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
