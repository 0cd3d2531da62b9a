// Runs input files through a fuzz target: tweaks-fuzz TARGET FILE… Built by .ci/fuzz, libFuzzer generates inputs:
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
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard let target = arguments.first.flatMap({ FuzzTarget(rawValue: $0) }) else {
        print("usage: tweaks-fuzz TARGET FILE…; targets: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
        exit(2)
    }
    for path in arguments.dropFirst() {
        do throws(Finding) {
            try target.run(try InputFile.bytes(path))
        } catch {
            print("\(path): \(error)")
            exit(1)
        }
    }
    print("\(target.rawValue): \(arguments.count - 1) inputs passed")
#endif
