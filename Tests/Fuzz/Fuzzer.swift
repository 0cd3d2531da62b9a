// Implements libFuzzer's entry points, if the program is built with it.

#if FUZZING
    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// The arguments of a command line in C.
    public typealias FuzzerArguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    // No header that Swift imports declares it. Its parameters and result are plain integers and pointers, for which
    // the calling conventions of Swift and C are the same.
    /// Generates inputs until one fails or the time is over.
    @_silgen_name("LLVMFuzzerRunDriver")
    func runFuzzer(
        _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<FuzzerArguments>,
        _ entry: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
    ) -> Int32

    nonisolated(unsafe) private var fuzzed = FuzzTarget.codec  // Set once, before the first input.

    /// Removes the target's name from the arguments: `tweaks-fuzz TARGET -max_total_time=60 CORPUS`. Processes that
    /// libFuzzer starts to merge or minimize inputs read it from the environment.
    @_cdecl("LLVMFuzzerInitialize")
    public func initializeFuzzer(
        _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<FuzzerArguments>
    ) -> Int32 {
        let variable = "TWEAKS_FUZZ_TARGET"
        let name = count.pointee > 1 ? arguments.pointee[1].map { String(cString: $0) } : nil
        if let name, let target = FuzzTarget(rawValue: name) {
            fuzzed = target
            setenv(variable, name, 1)
            arguments.pointee[1] = arguments.pointee[0]
            arguments.pointee += 1
            count.pointee -= 1
        } else if let target = getenv(variable).flatMap({ FuzzTarget(rawValue: String(cString: $0)) }) {
            fuzzed = target
        } else {
            fatalError("name a target: \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
        }
        return 0
    }

    /// Runs one input.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
        do throws(Finding) {
            try fuzzed.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
        } catch {
            // Only a trap makes libFuzzer keep the input.
            fatalError(error.description)
        }
        return 0
    }
#endif
