// SPDX-License-Identifier: MIT
//! PyTorch models to ONNX, without Python: Aton's C library.
//!
//! ```no_run
//! let made = aton::Task::new("export").file("model.pt2").option("opset", "18").option("output", "model.onnx").run()?;
//! print!("{}{}", made.messages, made.output);
//! # Ok::<(), aton::Error>(())
//! ```
//!
//! A [`Task`] is one run of a command of `aton`; its options are those of `aton --help`.

mod ffi;

use std::ffi::{c_char, c_void, CStr, CString};
use std::fmt;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;

/// Why a task failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Code {
    /// A file cannot be read or written, is malformed, or is refused.
    Failed,
    /// A command, an option or an argument is wrong.
    Usage,
    /// Operators cannot be converted.
    Unconvertible,
    /// What the command compared differs.
    Different,
    Cancelled,
    OutOfMemory,
    Other(i32),
}

/// An operator that cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The overload: `aten::foo.Tensor`.
    pub op: String,
    pub reason: String,
    /// Its first node in the program.
    pub node: String,
    /// Of that node in the Python source: `model.py:12 in forward`.
    pub place: String,
    /// The overload with the most similar name that can be converted.
    pub nearest: String,
    /// Of its calls.
    pub count: u64,
}

/// What went wrong, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: Code,
    pub message: String,
    /// All operators that cannot be converted.
    pub refused: Vec<Refused>,
    /// What the command printed before it failed, such as its JSON.
    pub output: String,
    /// Warnings and errors, a line each.
    pub messages: String,
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}
impl std::error::Error for Error {}

/// What a command made.
#[derive(Clone, Debug, Default)]
pub struct Made {
    pub output: String,
    /// Warnings, a line each.
    pub messages: String,
    /// The files of [`Task::keep_output`], by name: the model, and its external weights.
    pub files: Vec<(String, Vec<u8>)>,
}

/// How far a task is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// `model.pt2: reading`
    pub stage: &'a str,
    pub done: u64,
    /// 0: not known.
    pub total: u64,
    /// What is counted, such as `nodes`; empty: bytes.
    pub what: &'a str,
}

struct Handle(*mut ffi::Task);
// The library locks tasks.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}
impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { ffi::aton_task_free(self.0) }
    }
}

/// Cancels a task from any thread.
#[derive(Clone)]
pub struct Canceller(Arc<Handle>);
impl Canceller {
    pub fn cancel(&self) {
        unsafe { ffi::aton_task_cancel(self.0 .0) }
    }
}

/// One run of a command. What is wrong with an option is found when the task runs.
pub struct Task<'a> {
    handle: Arc<Handle>,
    observer: Option<Box<dyn FnMut(Progress<'_>) -> bool + 'a>>,
    fault: Option<Error>,
}

impl<'a> Task<'a> {
    /// `command` is `export`, `print`, `ops`, `unconvertible`, `stub`, `view`, `check`, `record-check` or `verify`.
    pub fn new(command: &str) -> Self {
        assert_eq!(unsafe { ffi::aton_abi_version() }, ffi::ABI_VERSION, "libaton.so has another ABI");
        let name = CString::new(command).unwrap_or_default(); // not a command either
        let task = unsafe { ffi::aton_task_new(name.as_ptr()) };
        assert!(!task.is_null(), "out of memory");
        Task { handle: Arc::new(Handle(task)), observer: None, fault: None }
    }

    fn with(mut self, texts: &[&[u8]], call: impl FnOnce(*mut ffi::Task, &[CString]) -> i32) -> Self {
        if self.fault.is_some() {
            return self;
        }
        let texts: Result<Vec<CString>, _> = texts.iter().map(|each| CString::new(*each)).collect();
        match texts {
            Ok(texts) if call(self.handle.0, &texts) == ffi::OK => {}
            Ok(_) => self.fault = Some(self.error()),
            Err(_) => self.fault = Some(usage("a text contains a zero byte")),
        }
        self
    }

    /// An option with a value, by its name without dashes.
    pub fn option(self, name: &str, value: &str) -> Self {
        let texts = [name.as_bytes(), value.as_bytes()];
        self.with(&texts, |task, all| unsafe { ffi::aton_task_set(task, all[0].as_ptr(), all[1].as_ptr()) })
    }

    /// An option without a value.
    pub fn flag(self, name: &str) -> Self {
        self.with(&[name.as_bytes()], |task, all| unsafe { ffi::aton_task_set(task, all[0].as_ptr(), std::ptr::null()) })
    }

    pub fn file(self, path: impl AsRef<Path>) -> Self {
        let bytes = path.as_ref().as_os_str().as_encoded_bytes();
        self.with(&[bytes], |task, all| unsafe { ffi::aton_task_add_file(task, all[0].as_ptr()) })
    }

    /// A file with these bytes, which messages call `name`.
    pub fn memory(self, name: &str, bytes: &[u8]) -> Self {
        let add = |task, all: &[CString]| unsafe {
            ffi::aton_task_add_memory(task, all[0].as_ptr(), bytes.as_ptr().cast::<c_void>(), bytes.len())
        };
        self.with(&[name.as_bytes()], add)
    }

    /// Keeps what the command would write to a file of this name: [`Made::files`].
    pub fn keep_output(self, name: &str) -> Self {
        self.with(&[name.as_bytes()], |task, all| unsafe { ffi::aton_task_keep_output(task, all[0].as_ptr()) })
    }

    /// Calls a function in the thread that runs the task. `false` cancels it.
    pub fn on_progress(mut self, observer: impl FnMut(Progress<'_>) -> bool + 'a) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    pub fn canceller(&self) -> Canceller {
        Canceller(Arc::clone(&self.handle))
    }

    pub fn run(&mut self) -> Result<Made, Error> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let task = self.handle.0;
        let mut watched = Watched { observer: self.observer.as_deref_mut(), panic: None };
        let function: Option<ffi::ProgressFunction> = watched.observer.is_some().then_some(watch);
        let user: *mut Watched<'_, 'a> = &mut watched;
        let code = unsafe {
            ffi::aton_task_on_progress(task, function, user.cast());
            ffi::aton_task_run(task)
        };
        if let Some(panic) = watched.panic.take() {
            resume_unwind(panic);
        }
        if code != ffi::OK {
            return Err(self.error());
        }
        Ok(Made { output: self.output(), messages: self.messages(), files: self.files() })
    }

    fn error(&self) -> Error {
        let task = self.handle.0;
        let Some(found) = (unsafe { ffi::aton_task_error(task).as_ref() }) else {
            return usage("the task runs");
        };
        let mut refused = Vec::new();
        while let Some(each) = unsafe { ffi::aton_task_refused(task, refused.len()).as_ref() } {
            refused.push(Refused {
                op: text(each.op),
                reason: text(each.message),
                node: text(each.node),
                place: text(each.place),
                nearest: text(each.nearest),
                count: each.count,
            });
        }
        let (output, messages) = (self.output(), self.messages());
        Error { code: code_of(found.code), message: text(found.message), refused, output, messages }
    }

    fn output(&self) -> String {
        sized_text(|size| unsafe { ffi::aton_task_output(self.handle.0, size) })
    }

    fn messages(&self) -> String {
        sized_text(|size| unsafe { ffi::aton_task_messages(self.handle.0, size) })
    }

    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        loop {
            let (mut name, mut size) = (std::ptr::null(), 0);
            let bytes = unsafe { ffi::aton_task_result(self.handle.0, files.len(), &mut name, &mut size) };
            if bytes.is_null() {
                return files;
            }
            let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) };
            files.push((text(name), bytes.to_vec()));
        }
    }
}

/// Exports a file to a file.
pub fn export(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Made, Error> {
    Task::new("export").file(from).option("output", &to.as_ref().to_string_lossy()).run()
}

/// The version of Aton, such as `0.2.0`.
pub fn version() -> String {
    text(unsafe { ffi::aton_version() })
}

struct Watched<'o, 'a> {
    observer: Option<&'o mut (dyn FnMut(Progress<'_>) -> bool + 'a)>,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

extern "C" fn watch(user: *mut c_void, now: *const ffi::Progress) -> i32 {
    let (watched, now) = unsafe { (&mut *user.cast::<Watched<'_, '_>>(), &*now) };
    let Some(observer) = watched.observer.as_mut() else { return 0 };
    let (stage, what) = (text(now.stage), text(now.what));
    let shown = Progress { stage: &stage, done: now.done, total: now.total, what: &what };
    match catch_unwind(AssertUnwindSafe(|| observer(shown))) {
        Ok(goes_on) => i32::from(!goes_on),
        Err(panic) => {
            watched.panic = Some(panic);
            1
        }
    }
}

fn usage(message: &str) -> Error {
    let (output, messages) = (String::new(), String::new());
    Error { code: Code::Usage, message: message.to_string(), refused: Vec::new(), output, messages }
}

fn code_of(code: i32) -> Code {
    match code {
        1 => Code::Failed,
        2 => Code::Usage,
        3 => Code::Unconvertible,
        4 => Code::Different,
        5 => Code::Cancelled,
        6 => Code::OutOfMemory,
        other => Code::Other(other),
    }
}

fn text(from: *const c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

fn sized_text(read: impl FnOnce(*mut usize) -> *const c_char) -> String {
    let mut size = 0;
    let start = read(&mut size);
    if start.is_null() {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), size) };
    String::from_utf8_lossy(bytes).into_owned()
}
