// The folder of the presets is opened and judged here, and its trouble put into words.

import Tweaks
import TweaksSystem

extension PresetFolder {
    /// Opens the folder, always beneath the state directory and never through a link.
    /// - Parameter isNeeded: Makes it, and the state directory, where they are missing.
    /// - Returns: Nil when there is none, and none is made.
    func open(making isNeeded: Bool) throws(TweakError) -> Folder? {
        let path = try directory()
        do throws(FileProblem) {
            let state = try Folder(path, files, makes: isNeeded)
            try state.judge()
            let folder = try state.folder(Self.folderName, makes: isNeeded)
            try folder.judge()
            return folder
        } catch {
            if error.isMissing, !isNeeded { return nil }
            throw failure(error, path)
        }
    }

    private func directory() throws(TweakError) -> String {
        switch place {
        case .success(let path): return path
        case .failure(let problem): throw TweakError(.io, "there is no place for presets: \(problem)")
        }
    }

    /// Others must not be able to put a preset of theirs there.
    private func failure(_ problem: FileProblem, _ state: String) -> TweakError {
        let folder = problem.path == state ? state : "the folder \(Self.folderName)"
        let text =
            switch problem.fault {
            case .kind: "\(folder) is a symbolic link, which is not followed; make it a folder"
            case .owner(let uid):
                "\(problem.path) belongs to uid \(uid), and this process to uid \(ThisProcess.user); chown it, or name "
                    + "another TWEAKS_STATE_DIR"
            case .mode: "others can write in \(problem.path); chmod 700 it, or name another TWEAKS_STATE_DIR"
            default: "\(folder) cannot be opened: \(problem.reason); \(problem.remedy)"
            }
        return TweakError(.io, text)
    }

    // MARK: Files

    /// Removes what writers left behind that died an hour ago or more; nobody writes that long.
    func removeLeftovers(_ folder: Folder, now: Int64) {
        let names = ((try? folder.names()) ?? []).filter { $0.hasPrefix(".") && $0.hasSuffix(".tmp") }
        for name in names {
            guard let facts = try? folder.facts(name) else { continue }
            if facts.modified / 1_000_000 < now - 3_600_000 { try? folder.remove(name) }
        }
    }

    /// Says what it was that failed, and what can be done.
    func doing<Result>(
        _ trouble: String, _ body: @autoclosure () throws(FileProblem) -> Result
    ) throws(TweakError) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            switch error.fault {
            case .kind(.link):
                throw TweakError(
                    .io, "\(trouble): it is a symbolic link, which is not followed; put the file itself there")
            case .kind: throw TweakError(.io, "\(trouble): \(error.reason); put one there")
            case .owner: throw TweakError(.io, "\(trouble): \(error.reason); chown it")
            case .size:
                throw TweakError(.tooLong, "\(trouble): \(error.reason); make two of it", limit: .presetBytes)
            default: throw TweakError(.io, "\(trouble): \(error.reason); \(error.remedy)")
            }
        }
    }
}
