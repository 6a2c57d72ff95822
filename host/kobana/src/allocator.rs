//! Where memory comes from. A request takes and gives back a few hundred small pieces, on whatever thread it happens to be, which
//! the system's allocator is slow at.

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;
