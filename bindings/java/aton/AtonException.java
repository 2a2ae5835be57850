// SPDX-License-Identifier: MIT
package aton;

import java.util.List;

/** Why a task failed: the message is one line. */
public final class AtonException extends Exception {
    private static final long serialVersionUID = 1L;

    public enum Code { FAILED, USAGE, UNCONVERTIBLE, DIFFERENT, CANCELLED, OUT_OF_MEMORY, BUSY, OTHER }

    /** An operator that cannot be converted; {@code op} is the overload, {@code place} a line of the Python source. */
    public record Refused(String op, String reason, String node, String place, String nearest, long count) {}

    private final Code code;
    private final transient List<Refused> refused;

    AtonException(int code, String message, List<Refused> refused) {
        super(message);
        this.code = code >= 1 && code <= 7 ? Code.values()[code - 1] : Code.OTHER;
        this.refused = List.copyOf(refused);
    }

    public Code code() {
        return code;
    }

    /** All operators that cannot be converted, in the order of the program. */
    public List<Refused> refused() {
        return refused;
    }
}
