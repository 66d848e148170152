package io.mintmark.audit.note;

import io.mintmark.base.config.HttpUrl;
import io.mintmark.base.file.RegularFile;
import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Logs, their witnesses, and which of these are enough: a file in the format of
 * c2sp.org/tlog-policy. A witness looks at the logs alone, and readers of cosignatures at the
 * witnesses.
 */
public final class WitnessPolicy {
    private static final int MOST_BYTES = 256 << 10;
    private static final String NONE = "none";

    private final Map<String, List<NoteKey>> logs = new HashMap<>();
    private final Set<String> keys = new HashSet<>();
    private final Set<String> names = new HashSet<>();
    private final Set<String> members = new HashSet<>();
    private final List<Witness> witnesses = new ArrayList<>();
    private final List<Group> groups = new ArrayList<>();
    private String quorum = "";

    /**
     * A witness.
     *
     * @param name in the policy
     * @param key of its cosignatures
     * @param url to which requests are sent, without their name; empty if it isn't asked
     */
    public record Witness(String name, NoteKey key, Optional<String> url) {}

    private record Group(String name, int least, List<String> members) {}

    private WitnessPolicy() {}

    /**
     * Reads the file that an option names.
     *
     * @throws CommandFailed naming the line that can't be read
     */
    public static WitnessPolicy read(Path file) {
        return read(file, "--policy", CommandFailed::new);
    }

    /**
     * Reads the file.
     *
     * @param name of the option or setting
     * @param failure made of the sentence that says why it can't be used
     */
    public static WitnessPolicy read(
            Path file, String name, Function<String, ? extends RuntimeException> failure) {
        try {
            return of(RegularFile.text(file, MOST_BYTES));
        } catch (RegularFile.Unfit e) {
            throw failure.apply("%s: '%s' %s".formatted(name, file, e.getMessage()));
        } catch (IOException e) {
            throw failure.apply("%s: '%s' can't be read (%s)".formatted(name, file, e));
        } catch (IllegalArgumentException e) {
            throw failure.apply("%s: '%s': %s".formatted(name, file, e.getMessage()));
        }
    }

    /**
     * Reads the text of such a file.
     *
     * @throws IllegalArgumentException naming the line that can't be read
     */
    public static WitnessPolicy of(String text) {
        WitnessPolicy policy = new WitnessPolicy();
        int number = 0;
        for (String line : text.split("\n", -1)) {
            number++;
            try {
                policy.add(line);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException(
                        "line %d: %s".formatted(number, e.getMessage()), e);
            }
        }
        require(!policy.quorum.isEmpty(), "a policy must have exactly one line 'quorum NAME'");
        require(
                !policy.logs.isEmpty(),
                "there is no line 'log KEY', so there is no log to witness");
        return policy;
    }

    /** The keys of a log's trees; empty if the policy doesn't list the log. */
    public List<NoteKey> keys(String origin) {
        return logs.getOrDefault(origin, List.of());
    }

    /**
     * Whether the policy lists the log of a key. The trees of a log have the same key, under names
     * that differ in the last part; a policy may list only one of them.
     */
    public boolean hasLogOf(NoteKey key) {
        return logs.values().stream()
                .flatMap(List::stream)
                .anyMatch(known ->
                        known.raw().equals(key.raw())
                                && issuer(known.name()).equals(issuer(key.name())));
    }

    private static String issuer(String name) {
        return name.substring(0, name.lastIndexOf('/') + 1);
    }

    /** The witnesses, in the order of the file. */
    public List<Witness> witnesses() {
        return List.copyOf(witnesses);
    }

    /**
     * Whether these witnesses are enough.
     *
     * @param cosigned the names of witnesses
     */
    public boolean isMet(Collection<String> cosigned) {
        Set<String> met = new HashSet<>(cosigned);
        met.add(NONE);
        for (Group group : groups) {
            if (group.members().stream().filter(met::contains).count() >= group.least()) {
                met.add(group.name());
            }
        }
        return met.contains(quorum);
    }

    private static void require(boolean fits, String why) {
        if (!fits) {
            throw new IllegalArgumentException(why);
        }
    }

    private void add(String line) {
        require(
                line.chars().allMatch(c -> c == '\t' || (c >= ' ' && c != 0x7f)),
                "the line has a control character");
        String[] words = line.replace('\t', ' ').strip().split(" +", -1);
        if (words[0].isEmpty() || words[0].startsWith("#")) {
            return;
        }
        switch (words[0]) {
            case "log" -> addLog(words);
            case "witness" -> addWitness(words);
            case "group" -> addGroup(words);
            case "quorum" -> addQuorum(words);
            default ->
                    throw new IllegalArgumentException(
                            "a line must begin with log, witness, group or quorum, not '%s'"
                                    .formatted(words[0]));
        }
    }

    private void addLog(String[] words) {
        require(words.length == 2 || words.length == 3, "a log must be written as 'log KEY [URL]'");
        NoteKey key = key(words[1], NoteKey.Type.NOTE);
        logs.computeIfAbsent(key.name(), _ -> new ArrayList<>()).add(key);
    }

    private void addWitness(String[] words) {
        require(
                words.length == 3 || words.length == 4,
                "a witness must be written as 'witness NAME KEY [URL]'");
        NoteKey key = key(words[2], NoteKey.Type.COSIGNATURE);
        name(words[1]);
        Optional<String> url = words.length == 4 ? Optional.of(url(words[3])) : Optional.empty();
        witnesses.add(new Witness(words[1], key, url));
    }

    private static String url(String text) {
        try {
            return HttpUrl.parse(text).toString();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "the URL of a witness %s".formatted(e.getMessage()), e);
        }
    }

    private NoteKey key(String text, NoteKey.Type type) {
        NoteKey key = NoteKey.parse(text, type);
        // the trees of one log have the same key under names of their own
        String unique = type == NoteKey.Type.NOTE ? key.text() : key.raw();
        require(keys.add(unique), "the key is already on an earlier line");
        return key;
    }

    private void name(String name) {
        require(
                !name.equals(NONE) && names.add(name),
                "the name '%s' is already used".formatted(name));
    }

    private void addGroup(String[] words) {
        require(words.length > 3, "a group must be written as 'group NAME all|any|NUMBER MEMBER…'");
        int count = words.length - 3;
        require(
                words[2].matches("all|any|[1-9][0-9]{0,3}"),
                "a group must require all, any or a number of its members");
        int least =
                switch (words[2]) {
                    case "all" -> count;
                    case "any" -> 1;
                    default -> Integer.parseInt(words[2]);
                };
        require(least <= count, "a group requires more members than it has");
        for (String member : List.of(words).subList(3, words.length)) {
            require(
                    names.contains(member),
                    "'%s' isn't defined on an earlier line".formatted(member));
            require(members.add(member), "'%s' is already in a group".formatted(member));
        }
        name(words[1]);
        groups.add(new Group(words[1], least, List.of(words).subList(3, words.length)));
    }

    private void addQuorum(String[] words) {
        require(words.length == 2, "a quorum must be written as 'quorum NAME'");
        require(
                words[1].equals(NONE) || names.contains(words[1]),
                "'%s' isn't defined on an earlier line".formatted(words[1]));
        require(quorum.isEmpty(), "a policy must have exactly one line 'quorum NAME'");
        quorum = words[1];
    }
}
