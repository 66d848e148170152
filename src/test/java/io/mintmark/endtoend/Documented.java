package io.mintmark.endtoend;

import io.mintmark.Unchecked;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What pages and recipes tell an admin to write or run, as it stands there. */
public final class Documented {
    private static final String COMMAND = "--   kubectl ";
    private static final String PSQL_ONLY = "\\set SHOW_CONTEXT never\n";

    private Documented() {}

    /** The recipe's statements. */
    public static String recipe(String name) {
        return read("db/recipes/" + name + ".sql").replace(PSQL_ONLY, "");
    }

    /** The recipe's kubectl commands that change the cluster. */
    public static String commands(String name) {
        return recipe(name)
                .lines()
                .filter(line -> line.startsWith(COMMAND + "create "))
                .map(line -> line.substring("--   ".length()))
                .collect(Collectors.joining("\n"));
    }

    /** The YAML blocks of a page, one after the other. */
    public static List<String> yaml(String page) {
        return blocks(page, "yaml");
    }

    /** The blocks of a page in one language, one after the other. */
    public static List<String> blocks(String page, String language) {
        return Arrays.stream(read("docs/" + page).split("```" + language + "\n", -1))
                .skip(1)
                .map(block -> block.substring(0, block.indexOf("```")).stripIndent())
                .toList();
    }

    private static String read(String file) {
        return Unchecked.call(() -> Files.readString(Path.of(file)));
    }
}
