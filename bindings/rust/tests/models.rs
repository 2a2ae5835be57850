// SPDX-License-Identifier: MIT
//! Two models, one with an operator that cannot be converted, and what else a caller sees. ATON_TEST_DATA is tests/data.

use std::path::{Path, PathBuf};

use aton::{Code, Task};

fn data(name: &str) -> PathBuf {
    Path::new(&std::env::var("ATON_TEST_DATA").expect("ATON_TEST_DATA")).join(name)
}

#[test]
fn models_in_memory_are_those_in_files() {
    for (number, name) in ["pt2/conv_bn_channels_last.pt2", "pt2/lstm.pt2"].iter().enumerate() {
        let file = std::env::temp_dir().join(format!("aton-rust-{}-{number}.onnx", std::process::id()));
        let made = aton::export(data(name), &file).unwrap();
        assert!(made.output.contains(" nodes, opset 20"), "{}", made.output);
        let written = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let bytes = std::fs::read(data(name)).unwrap();
        let made = Task::new("export").memory("model.pt2", &bytes).keep_output("model.onnx").run().unwrap();
        assert_eq!(made.files, [("model.onnx".to_string(), written)]);
    }
}

#[test]
fn an_operator_that_cannot_be_converted() {
    let error = aton::export(data("plugin/custom_op.pt2"), "never.onnx").unwrap_err();
    assert_eq!(error.code, Code::Unconvertible);
    assert!(error.to_string().contains("1 operator cannot be converted at opset 20"), "{error}");
    let first = &error.refused[0];
    assert_eq!((first.op.as_str(), first.reason.as_str()), ("custom_ops::foo_forward", "no mapping"));
    assert_eq!((first.place.as_str(), first.count), ("make_tiny.py:44 in forward", 1));
    assert_eq!(error.refused.len(), 1);
    assert!(!Path::new("never.onnx").exists());
}

#[test]
fn other_failures() {
    let error = aton::export("missing.pt2", "never.onnx").unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (Code::Failed, "missing.pt2: no such file"));
    let error = Task::new("export").file(data("pt2/lstm.pt2")).option("opset", "3").run().unwrap_err();
    assert_eq!(error.code, Code::Usage);
    let error = Task::new("export").option("--opset", "18").run().unwrap_err();
    assert!(error.code == Code::Usage && error.message.contains("without dashes"), "{error}");
    let error = Task::new("export").file("a\0b").run().unwrap_err();
    assert_eq!(error.code, Code::Usage);
    let made = Task::new("unconvertible").file(data("plugin/custom_op.pt2")).flag("json").run().unwrap();
    assert!(made.output.contains("\"custom_ops::foo_forward\""), "{}", made.output);
}

#[test]
fn progress_and_cancellation() {
    let bytes = std::fs::read(data("pt2/lstm.pt2")).unwrap();
    let mut stages = Vec::new();
    let mut task = Task::new("export").memory("model.pt2", &bytes).keep_output("model.onnx");
    task = task.on_progress(|now| {
        stages.push(now.stage.to_string());
        true
    });
    task.run().unwrap();
    drop(task);
    assert!(stages.contains(&"model.pt2: reading".to_string()), "{stages:?}");
    let mut task = Task::new("export").memory("model.pt2", &bytes).keep_output("model.onnx").on_progress(|_| false);
    assert_eq!(task.run().unwrap_err().code, Code::Cancelled);
    let mut task = Task::new("export").memory("model.pt2", &bytes).keep_output("model.onnx");
    task.canceller().cancel();
    assert_eq!(task.run().unwrap_err().code, Code::Cancelled);
    assert_eq!(task.run().unwrap().files.len(), 1);
}

#[test]
fn a_panic_of_the_observer_reaches_the_caller() {
    let mut task = Task::new("export").file(data("pt2/lstm.pt2")).keep_output("model.onnx").on_progress(|_| panic!("mine"));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.run())).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"mine"));
}
