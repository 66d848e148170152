package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.clients.ClientProcess.Ended;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What the completion scripts of the shell client offer in the shells that they are for. */
@Tag("shells")
class CompletionTest {
    @TempDir Path directory;

    @Test
    void bash_completes_commands_options_and_formats() throws IOException {
        assertCompletes(
                "bash",
                """
                . %s
                COMP_WORDS=(mintmark-client $2); COMP_CWORD=$(($3 - 1)); _mintmark_client
                printf '%%s\\n' "${COMPREPLY[@]}"
                """);
    }

    /** Completion needs a terminal; the stub of compadd prints what it would offer. */
    @Test
    void zsh_completes_commands_options_and_formats() throws IOException {
        assertCompletes(
                "zsh",
                """
                compdef() { :; }
                compadd() { shift; printf '%%s\\n' "$@"; }
                . %s
                words=(mintmark-client ${=2}); CURRENT=$3; _mintmark_client
                """);
    }

    @Test
    void fish_completes_commands_options_and_formats() throws IOException {
        assertCompletes(
                "fish",
                """
                source %s
                complete -C "mintmark-client $argv[2]" | string replace -r '\\t.*' ''
                """);
    }

    /** The arguments of a script: nothing, the words so far, and the number of the next word. */
    private void assertCompletes(String shell, String script) throws IOException {
        Assumptions.assumeTrue(Shell.find(shell).isPresent());
        ClientProcess client = ClientProcess.under(Shell.installed().findFirst().orElseThrow());
        Path completion =
                Files.writeString(
                        directory.resolve("completion"), client.run("completion", shell).out());
        Path asking = Files.writeString(directory.resolve("ask"), script.formatted(completion));
        Set<String> commands = offered(shell, asking, "", 2);
        assertTrue(commands.containsAll(List.of("aws-process", "get", "login")), commands + "");
        Set<String> options = offered(shell, asking, "--timeout 5 agent --", 5);
        assertTrue(options.containsAll(List.of("--listen", "--write")), options + "");
        assertTrue(!options.contains("--reason"), options + "");
        assertEquals(
                Set.of("env", "json", "dotenv", "exec-credential"),
                offered(shell, asking, "get deploy --format ", 5));
        assertEquals(Set.of("bash", "zsh", "fish"), offered(shell, asking, "completion ", 3));
    }

    private Set<String> offered(String shell, Path script, String words, int next)
            throws IOException {
        ProcessBuilder builder =
                new ProcessBuilder(shell, script.toString(), "", words, Integer.toString(next));
        builder.environment().put("HOME", directory.toString());
        Process process = builder.start();
        process.getOutputStream().close();
        Ended ended = ClientProcess.await(process);
        assertEquals("", ended.err());
        return new TreeSet<>(ended.out().lines().map(String::strip).toList());
    }
}
