// Opens and validates the preset folder, and formats its errors.

import Tweaks
import TweaksSystem

extension PresetFolder {
    /// Opens the folder, always inside the state directory and never through a link.
    /// - Parameter isNeeded: Creates it, and the state directory, if they are missing.
    /// - Returns: Nil if it does not exist and is not created.
    func open(making isNeeded: Bool) throws(TweakError) -> Folder? {
        let path = try directory()
        do throws(FileProblem) {
            let state = try Folder(path, files, creates: isNeeded)
            try state.validate()
            let folder = try state.folder(Self.folderName, creates: isNeeded)
            try folder.validate()
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

    /// Other users must not be able to add presets.
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

    /// Removes temporary files of dead writers: no write lasts an hour.
    func removeLeftovers(_ folder: Folder, now: Int64) {
        let names = ((try? folder.names()) ?? []).filter { $0.hasPrefix(".") && $0.hasSuffix(".tmp") }
        for name in names {
            guard let info = try? folder.info(name) else { continue }
            if info.modified / 1_000_000 < now - 3_600_000 { try? folder.remove(name) }
        }
    }

    /// Runs a file operation, and converts its error into a message with a remedy.
    func attempt<Result>(
        _ failureText: String, _ body: @autoclosure () throws(FileProblem) -> Result
    ) throws(TweakError) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            switch error.fault {
            case .kind(.link):
                throw TweakError(
                    .io, "\(failureText): it is a symbolic link, which is not followed; put the file itself there")
            case .kind: throw TweakError(.io, "\(failureText): \(error.reason); put one there")
            case .owner: throw TweakError(.io, "\(failureText): \(error.reason); chown it")
            case .size:
                throw TweakError(.tooLong, "\(failureText): \(error.reason); make two of it", limit: .presetBytes)
            default: throw TweakError(.io, "\(failureText): \(error.reason); \(error.remedy)")
            }
        }
    }
}
