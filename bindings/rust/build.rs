// SPDX-License-Identifier: MIT
//! Finds libaton.so in the folder that ATON_LIBRARY_FOLDER names, or where the linker looks.

fn main() {
    println!("cargo:rerun-if-env-changed=ATON_LIBRARY_FOLDER");
    println!("cargo:rustc-link-lib=dylib=aton");
    if let Ok(folder) = std::env::var("ATON_LIBRARY_FOLDER") {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
