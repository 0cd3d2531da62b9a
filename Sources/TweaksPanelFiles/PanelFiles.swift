// The files that the panel hands out as they are, in the binary; a target of their own, for they take long to compile.

/// What is in the files beside this one.
package enum PanelFiles {
    /// The page: HTML, styles and scripts.
    package static var page: [UInt8] { PackageResources.panel_html }

    /// What the API says of itself: OpenAPI 3.1.
    package static var openAPI: [UInt8] { PackageResources.openapi_json }
}
