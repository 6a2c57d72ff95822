//! What goes wrong before anything is asked, or when it is asked what it is.
//!
//! That cannot depend on arguments, and an extension has no environment. So it depends on bytes of the component that a test
//! overwrites: `kobana-hostile-mode=` and a word of eight letters. As it is built, it is well.

use std::hint::black_box;

/// What a test looks for and what it overwrites.
static MODE: [u8; 28] = *b"kobana-hostile-mode=harmless";

/// The word, read at run time: the compiler must not know it.
pub(crate) fn mode() -> &'static [u8] {
    &black_box(&MODE)[20..]
}

/// Runs before anything is called, as constructors of static objects do in C++.
extern "C" fn constructor() {
    if mode() == b"at-start" {
        crate::spin();
    }
}

#[used]
#[allow(unsafe_code, reason = "the only way to run code while an instance starts")]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = constructor;
