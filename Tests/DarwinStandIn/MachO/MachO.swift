// Stands for the module of the headers in mach-o/.

@_exported public import CDarwin
