package io.mintmark.auditor.witness;

import io.mintmark.audit.note.NoteKey;
import io.mintmark.base.file.RegularFile;
import io.mintmark.base.output.CommandFailed;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The logs that a witness cosigns, from a file in the format of c2sp.org/tlog-policy. Its lines
 * about witnesses and their quorum are for readers of cosignatures; a witness only checks that they
 * are well-formed.
 */
public final class WitnessPolicy {
    private static final int MOST_BYTES = 256 << 10;
    private static final String NONE = "none";

    private final Map<String, List<NoteKey>> logs = new HashMap<>();
    private final Set<String> keys = new HashSet<>();
    private final Set<String> names = new HashSet<>();
    private final Set<String> members = new HashSet<>();
    private int quorums;

    private WitnessPolicy() {}

    /**
     * Reads the file.
     *
     * @throws CommandFailed naming the line that can't be read
     */
    public static WitnessPolicy read(Path file) {
        try {
            return of(RegularFile.text(file, MOST_BYTES));
        } catch (RegularFile.Unfit e) {
            throw new CommandFailed("--policy: '%s' %s".formatted(file, e.getMessage()));
        } catch (IOException e) {
            throw new CommandFailed("--policy: '%s' can't be read (%s)".formatted(file, e));
        } catch (IllegalArgumentException e) {
            throw new CommandFailed("--policy: '%s': %s".formatted(file, e.getMessage()));
        }
    }

    static WitnessPolicy of(String text) {
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
        require(policy.quorums == 1, "a policy has exactly one line 'quorum NAME'");
        require(!policy.logs.isEmpty(), "there is no line 'log KEY', so nothing to witness");
        return policy;
    }

    /** The keys that sign for a log; empty if the log is unknown. */
    List<NoteKey> keys(String origin) {
        return logs.getOrDefault(origin, List.of());
    }

    private static void require(boolean fits, String why) {
        if (!fits) {
            throw new IllegalArgumentException(why);
        }
    }

    private void add(String line) {
        require(
                line.chars().allMatch(c -> c == '\t' || (c >= ' ' && c != 0x7f)),
                "it has a control character");
        String[] words = line.replace('\t', ' ').strip().split(" +", -1);
        if (words[0].isEmpty() || words[0].startsWith("#")) {
            return;
        }
        switch (words[0]) {
            case "log" -> addLog(words);
            case "witness" -> addWitness(words);
            case "group" -> addGroup(words);
            case "quorum" -> addQuorum(words);
            default -> throw new IllegalArgumentException("'%s' is unknown".formatted(words[0]));
        }
    }

    private void addLog(String[] words) {
        require(words.length == 2 || words.length == 3, "a log is 'log KEY [URL]'");
        NoteKey key = key(words[1], NoteKey.Type.NOTE);
        logs.computeIfAbsent(key.name(), _ -> new ArrayList<>()).add(key);
    }

    private void addWitness(String[] words) {
        require(words.length == 3 || words.length == 4, "a witness is 'witness NAME KEY [URL]'");
        var _ = key(words[2], NoteKey.Type.COSIGNATURE);
        name(words[1]);
    }

    private NoteKey key(String text, NoteKey.Type type) {
        NoteKey key = NoteKey.parse(text, type);
        require(keys.add(type + key.raw()), "its key is there twice");
        return key;
    }

    private void name(String name) {
        require(!name.equals(NONE) && names.add(name), "the name '%s' is taken".formatted(name));
    }

    private void addGroup(String[] words) {
        require(words.length > 3, "a group is 'group NAME all|any|NUMBER MEMBER…'");
        int count = words.length - 3;
        if (!words[2].equals("all") && !words[2].equals("any")) {
            require(words[2].matches("[1-9][0-9]{0,3}"), "a group needs all, any or a number");
            require(Integer.parseInt(words[2]) <= count, "a group needs more than it has");
        }
        for (String member : List.of(words).subList(3, words.length)) {
            require(names.contains(member), "'%s' isn't defined above".formatted(member));
            require(members.add(member), "'%s' is in a group already".formatted(member));
        }
        name(words[1]);
    }

    private void addQuorum(String[] words) {
        require(words.length == 2, "a quorum is 'quorum NAME'");
        require(
                words[1].equals(NONE) || names.contains(words[1]),
                "'%s' isn't defined above".formatted(words[1]));
        quorums++;
    }
}
