package io.mintmark.postgres;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.Optional;

/**
 * A line of an export, and where it belongs; on disk each part stands behind the one before it,
 * texts with their length in bytes before them.
 *
 * @param origin where it was read, for people
 */
record PlacedLine(Chain chain, long place, String origin, String text) {
    /** By group, chain and place. */
    static final Comparator<PlacedLine> ORDER =
            Comparator.comparingInt((PlacedLine line) -> line.chain().group())
                    .thenComparing(line -> line.chain().name().isEmpty())
                    .thenComparing(line -> line.chain().name().orElse(""))
                    .thenComparingLong(PlacedLine::place);

    /** A chain of a group. Without a name comes last. */
    record Chain(int group, Optional<String> name) {}

    /** Whether it is the other one, to the letter. */
    boolean repeats(PlacedLine other) {
        return ORDER.compare(this, other) == 0 && text.equals(other.text);
    }

    static PlacedLine read(DataInput in) throws IOException {
        int group = in.readInt();
        boolean named = in.readBoolean();
        String name = text(in);
        return new PlacedLine(
                new Chain(group, Optional.of(name).filter(_ -> named)),
                in.readLong(),
                text(in),
                text(in));
    }

    void write(DataOutput out) throws IOException {
        out.writeInt(chain.group());
        out.writeBoolean(chain.name().isPresent());
        write(out, chain.name().orElse(""));
        out.writeLong(place);
        write(out, origin);
        write(out, text);
    }

    /** In bytes, as it is written. */
    long length() {
        return Integer.BYTES
                + 1
                + length(chain.name().orElse(""))
                + Long.BYTES
                + length(origin)
                + length(text);
    }

    private static String text(DataInput in) throws IOException {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static void write(DataOutput out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static long length(String text) {
        return Integer.BYTES + (long) text.getBytes(StandardCharsets.UTF_8).length;
    }
}
