// libFuzzer's entry points, where the program was built with it.

#if FUZZING
    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// The words of a command line, as C has them.
    public typealias FuzzerWords = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    // No header of Swift's has it. It takes and gives plain words, for which both calling conventions are the same.
    /// Looks for inputs until it has found one, or its time is over.
    @_silgen_name("LLVMFuzzerRunDriver")
    func runFuzzer(
        _ count: UnsafeMutablePointer<Int32>, _ words: UnsafeMutablePointer<FuzzerWords>,
        _ entry: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
    ) -> Int32

    nonisolated(unsafe) private var fuzzed = FuzzTarget.codec  // Set once, before the first input.

    /// Takes the target's name off the words: `tweaks-fuzz TARGET -max_total_time=60 CORPUS`. Those that libFuzzer starts to
    /// merge or minimize inputs find it in the environment.
    @_cdecl("LLVMFuzzerInitialize")
    public func initializeFuzzer(
        _ count: UnsafeMutablePointer<Int32>, _ words: UnsafeMutablePointer<FuzzerWords>
    ) -> Int32 {
        let variable = "TWEAKS_FUZZ_TARGET"
        let name = count.pointee > 1 ? words.pointee[1].map { String(cString: $0) } : nil
        if let name, let target = FuzzTarget(rawValue: name) {
            fuzzed = target
            setenv(variable, name, 1)
            words.pointee[1] = words.pointee[0]
            words.pointee += 1
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
            // A trap is what makes libFuzzer keep the input.
            fatalError(error.description)
        }
        return 0
    }
#endif
