// SPDX-License-Identifier: MIT
//! The part of aton.h that this crate uses.

use std::ffi::{c_char, c_void};

pub const ABI_VERSION: u32 = 1;
pub const OK: i32 = 0;

#[repr(C)]
pub struct Task {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct Error {
    pub size: u32,
    pub code: i32,
    pub message: *const c_char,
    pub op: *const c_char,
    pub node: *const c_char,
    pub place: *const c_char,
    pub nearest: *const c_char,
    pub count: u64,
}

#[repr(C)]
pub struct Progress {
    pub size: u32,
    pub unit: i32,
    pub stage: *const c_char,
    pub what: *const c_char,
    pub done: u64,
    pub total: u64,
}

pub type ProgressFunction = extern "C" fn(*mut c_void, *const Progress) -> i32;

extern "C" {
    pub fn aton_abi_version() -> u32;
    pub fn aton_version() -> *const c_char;
    pub fn aton_task_new(command: *const c_char) -> *mut Task;
    pub fn aton_task_free(task: *mut Task);
    pub fn aton_task_set(task: *mut Task, name: *const c_char, value: *const c_char) -> i32;
    pub fn aton_task_add_file(task: *mut Task, path: *const c_char) -> i32;
    pub fn aton_task_add_memory(task: *mut Task, name: *const c_char, bytes: *const c_void, size: usize) -> i32;
    pub fn aton_task_keep_output(task: *mut Task, name: *const c_char) -> i32;
    pub fn aton_task_on_progress(task: *mut Task, function: Option<ProgressFunction>, user: *mut c_void) -> i32;
    pub fn aton_task_run(task: *mut Task) -> i32;
    pub fn aton_task_cancel(task: *mut Task);
    pub fn aton_task_output(task: *mut Task, size: *mut usize) -> *const c_char;
    pub fn aton_task_messages(task: *mut Task, size: *mut usize) -> *const c_char;
    pub fn aton_task_error(task: *mut Task) -> *const Error;
    pub fn aton_task_refused(task: *mut Task, index: usize) -> *const Error;
    pub fn aton_task_result(task: *mut Task, index: usize, name: *mut *const c_char, size: *mut usize) -> *const c_void;
}
