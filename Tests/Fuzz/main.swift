// tweaks-fuzz TARGET FILE… runs inputs through a fuzz target. Built by .ci/fuzz, libFuzzer looks for them:
// tweaks-fuzz TARGET -max_total_time=60 CORPUS

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

#if FUZZING
    var count = CommandLine.argc
    var pointers = CommandLine.unsafeArgv
    exit(runFuzzer(&count, &pointers, fuzzOneInput))
#else
    let words = Array(CommandLine.arguments.dropFirst())
    guard let target = words.first.flatMap({ FuzzTarget(rawValue: $0) }) else {
        print("write: tweaks-fuzz TARGET FILE…; targets: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
        exit(2)
    }
    for path in words.dropFirst() {
        do throws(Finding) {
            try target.run(try InputFile.bytes(path))
        } catch {
            print("\(path): \(error)")
            exit(1)
        }
    }
    print("\(target.rawValue): \(words.count - 1) inputs, and nothing is wrong")
#endif
