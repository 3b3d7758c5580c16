// SPDX-License-Identifier: GPL-2.0
//! framehop with a C interface: see ../../framehop.c, which declares it.
//!
//! Pointers are its caller's to get right; one thread uses all of this.

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, Module, Unwinder};
use std::ops::Range;
use std::slice;

/// The unwinder of an address space.
type Space = UnwinderX86_64<&'static [u8]>;

/// A section: its bytes, which stay for ever, and its address in the file; bytes is null: none.
#[repr(C)]
pub struct Section {
    bytes: *const u8,
    size: usize,
    addr: u64,
}

/// A recorded stack: its first address and its bytes.
#[repr(C)]
pub struct Stack {
    start: u64,
    size: usize,
    bytes: *const u8,
}

impl Section {
    unsafe fn bytes(&self) -> Option<&'static [u8]> {
        (!self.bytes.is_null()).then(|| slice::from_raw_parts(self.bytes, self.size))
    }

    fn range(&self) -> Option<Range<u64>> {
        (!self.bytes.is_null()).then(|| self.addr..self.addr + self.size as u64)
    }
}

#[no_mangle]
pub extern "C" fn bench_framehop_space() -> *mut Space {
    Box::into_raw(Box::new(Space::new()))
}

/// A new cache; the old one goes.
#[no_mangle]
pub unsafe extern "C" fn bench_framehop_cache(old: *mut CacheX86_64) -> *mut CacheX86_64 {
    if !old.is_null() {
        drop(Box::from_raw(old));
    }
    Box::into_raw(Box::new(CacheX86_64::new()))
}

/// A mapping from start to end of a file whose address 0 is at bias.
#[no_mangle]
pub unsafe extern "C" fn bench_framehop_add(
    space: *mut Space,
    start: u64,
    end: u64,
    bias: u64,
    text: &Section,
    eh_frame: &Section,
    eh_frame_hdr: &Section,
) {
    let sections = ExplicitModuleSectionInfo {
        base_svma: 0,
        text_svma: text.range(),
        eh_frame_svma: eh_frame.range(),
        eh_frame: eh_frame.bytes(),
        eh_frame_hdr_svma: eh_frame_hdr.range(),
        eh_frame_hdr: eh_frame_hdr.bytes(),
        ..Default::default()
    };
    (*space).add_module(Module::new(String::new(), start..end, bias, sections));
}

/// Store up to max addresses; return how many.
#[no_mangle]
pub unsafe extern "C" fn bench_framehop_walk(
    space: *const Space,
    cache: *mut CacheX86_64,
    regs: &[u64; 3], /* rip, rsp, rbp */
    stack: &Stack,
    ips: *mut u64,
    max: usize,
) -> usize {
    let bytes = slice::from_raw_parts(stack.bytes, stack.size);
    let mut read = |addr: u64| {
        let at = addr.wrapping_sub(stack.start) as usize;
        let word = bytes.get(at..at.wrapping_add(8)).ok_or(())?;
        Ok(u64::from_le_bytes(word.try_into().map_err(|_| ())?))
    };
    let regs_ = UnwindRegsX86_64::new(regs[0], regs[1], regs[2]);
    let mut frames = (*space).iter_frames(regs[0], regs_, &mut *cache, &mut read);
    let mut n = 0;
    while n < max {
        let Ok(Some(frame)) = frames.next() else { break };
        *ips.add(n) = frame.address();
        n += 1;
    }
    n
}
