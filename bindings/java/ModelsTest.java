// SPDX-License-Identifier: MIT
// Two models, one with an operator that cannot be converted, and what else a caller sees. usage: ModelsTest DATA FOLDER

import aton.AtonException;
import aton.Task;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public final class ModelsTest {
    private static int failures = 0;

    private static void check(boolean condition, String what) {
        if (condition) return;
        ++failures;
        System.err.println(what);
    }

    private interface Work {
        void run() throws Exception;
    }

    private static AtonException refused(Work work, AtonException.Code code) throws Exception {
        try {
            work.run();
        } catch (AtonException error) {
            check(error.code() == code, error.code() + ": " + error.getMessage());
            return error;
        }
        throw new AssertionError("expected " + code);
    }

    private static Task export(Path path) throws AtonException {
        return new Task("export").file(path);
    }

    public static void main(String[] arguments) throws Exception {
        Path data = Path.of(arguments[0]);
        Path folder = Path.of(arguments[1]);
        Path lstm = data.resolve("pt2/lstm.pt2");
        for (Path path : List.of(data.resolve("pt2/conv_bn_channels_last.pt2"), lstm)) {
            Path output = folder.resolve("Modell ü.onnx");
            try (Task toFile = export(path).option("output", output.toString());
                    Task inMemory = new Task("export").memory("model.pt2", Files.readAllBytes(path)).keepOutput("model.onnx")) {
                check(toFile.run().output().contains(" nodes, opset 20"), toFile.output());
                check(Arrays.equals(inMemory.run().result(0), Files.readAllBytes(output)), path + ": other bytes");
                check(inMemory.result(1) == null, "there are no external weights");
            }
            Files.delete(output);
        }
        AtonException error = refused(() -> export(data.resolve("plugin/custom_op.pt2")).keepOutput("m.onnx").run(), AtonException.Code.UNCONVERTIBLE);
        check(error.getMessage().contains("1 operator cannot be converted at opset 20"), error.getMessage());
        check(error.refused().equals(List.of(new AtonException.Refused(
                "custom_ops::foo_forward", "no mapping", "foo_forward", "make_tiny.py:44 in forward", "", 1))), error.refused().toString());
        error = refused(() -> export(Path.of("missing.pt2")).run(), AtonException.Code.FAILED);
        check(error.getMessage().equals("missing.pt2: no such file"), error.getMessage());
        refused(() -> export(lstm).option("opset", "3").run(), AtonException.Code.USAGE);
        refused(() -> export(lstm).option("--opset", "18"), AtonException.Code.USAGE);
        check(new Task("unconvertible").file(lstm).flag("json").run().output().equals("[]\n"), "all of it can be converted");

        List<String> stages = new ArrayList<>();
        export(lstm).keepOutput("m.onnx").onProgress(now -> stages.add(now.stage())).run();
        check(stages.stream().anyMatch(each -> each.endsWith("lstm.pt2: reading")), stages.toString());
        refused(() -> export(lstm).keepOutput("m.onnx").onProgress(now -> false).run(), AtonException.Code.CANCELLED);
        Task cancelled = export(lstm).keepOutput("m.onnx");
        cancelled.cancel();
        refused(cancelled::run, AtonException.Code.CANCELLED);
        check(cancelled.run().result(0).length > 100, "a cancelled task runs again");
        try {
            export(lstm).keepOutput("m.onnx").onProgress(now -> { throw new IllegalStateException("mine"); }).run();
            check(false, "the exception of the observer is lost");
        } catch (IllegalStateException mine) {
            check(mine.getMessage().equals("mine"), mine.getMessage());
        }
        System.out.println(failures == 0 ? "all passed" : failures + " failures");
        System.exit(failures == 0 ? 0 : 1);
    }
}
