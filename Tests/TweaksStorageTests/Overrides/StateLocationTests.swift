// Tests the location of the state directory for each environment.

import Testing
import TweaksStorage

@Suite struct StateLocationTests {
    private static func location(_ code: String?, _ environment: [String: String]) -> String {
        switch StateLocation.directory(named: code, program: "bounce", environment: environment) {
        case nil: "off"
        case .success(let path)?: path
        case .failure(let problem)?: "failure: \(problem)"
        }
    }

    #if !canImport(Darwin)
        @Test(
            arguments: [
                (nil, ["HOME": "/home/a"], "/home/a/.local/state/bounce"), (nil, ["HOME": "/"], "/.local/state/bounce"),
                (nil, ["HOME": "/home/a", "XDG_STATE_HOME": "/state/"], "/state/bounce"),
                (nil, ["HOME": "/home/a", "XDG_STATE_HOME": "state"], "/home/a/.local/state/bounce"),
                (nil, ["HOME": "/home/a", "STATE_DIRECTORY": "/var/lib/x:/var/lib/y"], "/var/lib/x"),
                ("/code", ["HOME": "/home/a", "STATE_DIRECTORY": "/var/lib/x"], "/code"),
                ("/code", ["TWEAKS_STATE_DIR": "/named//"], "/named"), ("/code", ["TWEAKS_STATE_DIR": "off"], "off"),
                ("/code", ["TWEAKS_STATE_DIR": ""], "/code"), ("", ["TWEAKS_STATE_DIR": "/"], "/"),
            ] as [(String?, [String: String], String)])
        func theEnvironmentDecidesWhereStateIs(code: String?, environment: [String: String], expected: String) {
            #expect(Self.location(code, environment) == expected)
        }
    #endif

    @Test(
        arguments: [
            (nil, ["TWEAKS_STATE_DIR": "here"], "TWEAKS_STATE_DIR=here"),
            ("here", [:], "the state directory “here” of the program"),
            (nil, ["STATE_DIRECTORY": "here"], "STATE_DIRECTORY=here"),
            (nil, ["STATE_DIRECTORY": ":/x"], "STATE_DIRECTORY=:/x"), (nil, ["HOME": "here"], "HOME=here"),
            (nil, [:], "HOME is not set"),
        ] as [(String?, [String: String], String)])
    func relativePathsAndMissingHomesAreRefused(code: String?, environment: [String: String], expected: String) {
        #expect(Self.location(code, environment).hasPrefix("failure: \(expected)"))
    }
}
