package io.mintmark.auditor.reader;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.Optional;

/**
 * A line and its place. On disk the parts follow each other in this order; a text has its length in
 * bytes in front of it.
 *
 * @param origin where the line was read, for people
 */
record PlacedLine(Place place, String origin, String text) {
    /** Lines of one place come in the order of their texts, so equal lines are neighbours. */
    static final Comparator<PlacedLine> ORDER =
            Comparator.comparing(PlacedLine::place).thenComparing(PlacedLine::text);

    /** A chain of a group. The chain without a name is the last of its group. */
    record Chain(int group, Optional<String> name) implements Comparable<Chain> {
        @Override
        public int compareTo(Chain other) {
            if (group != other.group) {
                return Integer.compare(group, other.group);
            }
            return name.isPresent() && other.name.isPresent()
                    ? name.get().compareTo(other.name.get())
                    : Boolean.compare(name.isEmpty(), other.name.isEmpty());
        }
    }

    /** A position in a chain. */
    record Place(Chain chain, long at) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            int chains = chain.compareTo(other.chain);
            return chains == 0 ? Long.compare(at, other.at) : chains;
        }

        static Place read(DataInput in) throws IOException {
            int group = in.readInt();
            boolean named = in.readBoolean();
            String name = PlacedLine.text(in);
            return new Place(new Chain(group, Optional.of(name).filter(_ -> named)), in.readLong());
        }

        private void write(DataOutput out) throws IOException {
            out.writeInt(chain.group());
            out.writeBoolean(chain.name().isPresent());
            PlacedLine.write(out, chain.name().orElse(""));
            out.writeLong(at);
        }
    }

    PlacedLine(Chain chain, long at, String origin, String text) {
        this(new Place(chain, at), origin, text);
    }

    /** Whether both lines are identical. */
    boolean repeats(PlacedLine other) {
        return ORDER.compare(this, other) == 0;
    }

    static PlacedLine read(DataInput in) throws IOException {
        return new PlacedLine(Place.read(in), text(in), text(in));
    }

    void write(DataOutput out) throws IOException {
        place.write(out);
        write(out, origin);
        write(out, text);
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
}
