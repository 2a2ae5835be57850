// SPDX-License-Identifier: MIT
package aton;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.ref.Cleaner;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One run of a command of aton, in this process; its options are those of {@code aton --help}.
 *
 * <pre>{@code
 * try (Task task = new Task("export").file(Path.of("model.pt2")).option("output", "model.onnx")) {
 *     System.out.print(task.run().output());
 * }
 * }</pre>
 */
public final class Task implements AutoCloseable {
    /** How far a task is; {@code total} is 0 if that is not known. */
    public record Progress(String stage, String what, long done, long total) {}

    /** Is called in the thread that runs the task. */
    public interface Observer {
        /** Whether to go on. What it throws cancels the task, and leaves {@link Task#run}. */
        boolean onProgress(Progress progress);
    }

    static {
        String folder = System.getProperty("aton.library.folder");
        if (folder == null) System.loadLibrary("aton_jni");
        else System.load(Path.of(folder, System.mapLibraryName("aton_jni")).toAbsolutePath().toString());
    }

    private static final Cleaner CLEANER = Cleaner.create();

    private record Handle(long task) implements Runnable {
        @Override
        public void run() {
            free(task);
        }
    }

    private final long task;
    private final Cleaner.Cleanable cleanable;
    private Observer observer;

    /** A command: export, print, ops, unconvertible, stub, view, check, record-check or verify. */
    public Task(String command) {
        task = create(text(command));
        if (task == 0) throw new OutOfMemoryError("aton");
        cleanable = CLEANER.register(this, new Handle(task));
    }

    /** An option by its name without dashes. */
    public Task option(String name, String value) throws AtonException {
        return checked(set(task, text(name), text(value)));
    }

    /** An option without a value. */
    public Task flag(String name) throws AtonException {
        return checked(set(task, text(name), null));
    }

    public Task file(Path path) throws AtonException {
        return checked(addFile(task, text(path.toString())));
    }

    /** A file with these bytes, which messages call {@code name}. */
    public Task memory(String name, byte[] bytes) throws AtonException {
        return checked(addMemory(task, text(name), bytes));
    }

    /** Keeps what the command would write to a file of this name: {@link #result}. */
    public Task keepOutput(String name) throws AtonException {
        return checked(keepOutput(task, text(name)));
    }

    public Task onProgress(Observer observer) {
        this.observer = observer;
        return this;
    }

    public Task run() throws AtonException {
        return checked(run(task, observer == null ? null : this));
    }

    /** Makes {@link #run} fail soon; from any thread, while the task is not closed. */
    public void cancel() {
        cancel(task);
    }

    /** What the command prints as its result. */
    public String output() {
        return new String(bytes(task, -1), UTF_8);
    }

    /** Warnings and errors, a line each. */
    public String messages() {
        return new String(bytes(task, -2), UTF_8);
    }

    /** The files of {@link #keepOutput}: 0 is the model, 1 its external weights; null if there is none. */
    public byte[] result(int index) {
        return bytes(task, index);
    }

    /** Frees what the task has. It must not run. */
    @Override
    public void close() {
        cleanable.clean();
    }

    private boolean observe(byte[] stage, byte[] what, long done, long total) {
        return observer.onProgress(new Progress(new String(stage, UTF_8), new String(what, UTF_8), done, total));
    }

    private Task checked(int code) throws AtonException {
        if (code == 0) return this;
        List<AtonException.Refused> refused = new ArrayList<>();
        for (byte[][] each = error(task, refused.size()); each != null; each = error(task, refused.size()))
            refused.add(new AtonException.Refused(
                    new String(each[1], UTF_8), new String(each[0], UTF_8), new String(each[2], UTF_8), new String(each[3], UTF_8),
                    new String(each[4], UTF_8), Long.parseLong(new String(each[5], UTF_8))));
        byte[][] failure = error(task, -1);
        throw new AtonException(code, failure == null ? "the task runs" : new String(failure[0], UTF_8), refused);
    }

    /** UTF-8 with a zero byte at its end, as C has it; JNI's own text is another encoding. */
    private static byte[] text(String from) {
        if (from.indexOf('\0') >= 0) throw new IllegalArgumentException("a text contains a zero character");
        byte[] bytes = from.getBytes(UTF_8);
        return Arrays.copyOf(bytes, bytes.length + 1);
    }

    private static native long create(byte[] command);
    private static native void free(long task);
    private static native int set(long task, byte[] name, byte[] value);
    private static native int addFile(long task, byte[] path);
    private static native int addMemory(long task, byte[] name, byte[] bytes);
    private static native int keepOutput(long task, byte[] name);
    private static native int run(long task, Task observed);
    private static native void cancel(long task);
    private static native byte[] bytes(long task, int index);
    private static native byte[][] error(long task, int index);
}
