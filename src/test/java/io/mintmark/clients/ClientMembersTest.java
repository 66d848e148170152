package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.provider.types.CredentialTypes;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The two lists of names in the shell client. */
class ClientMembersTest {

    /** The lines of a list, without the first and the last, which are empty. */
    private static List<String> list(String variable) throws IOException {
        Matcher matcher =
                Pattern.compile(
                                "^" + variable + "='\n(.*?)\n'$",
                                Pattern.DOTALL | Pattern.MULTILINE)
                        .matcher(Files.readString(ClientProcess.FILE));
        assertTrue(matcher.find(), variable);
        return matcher.group(1).lines().toList();
    }

    /** Variables that change what programs do, as globs with a star. */
    private static List<Pattern> steering() throws IOException {
        return list("mm_steering").stream()
                .flatMap(line -> Arrays.stream(line.split(" ")))
                .map(glob -> Pattern.compile(Pattern.quote(glob).replace("*", "\\E.*\\Q")))
                .toList();
    }

    /** A key with such an output could be minted, but never used with this client. */
    @Test
    void the_database_refuses_outputs_by_the_same_list() throws IOException {
        String sql = Files.readString(Path.of("db", "migration", "R__04_rows_by_themselves.sql"));
        Matcher list = Pattern.compile("btrim\\('\n(.*?)\n *'", Pattern.DOTALL).matcher(sql);
        assertTrue(list.find(), "internal.steers_programs has no list");
        assertEquals(list("mm_steering"), list.group(1).lines().map(String::strip).toList());
    }

    private static Map<String, Set<String>> accepted() throws IOException {
        Map<String, Set<String>> accepted = new TreeMap<>();
        for (String line : list("mm_defaults")) {
            List<String> words = List.of(line.split(" "));
            accepted.put(words.getFirst(), new TreeSet<>(words.subList(1, words.size())));
        }
        return accepted;
    }

    @Test
    void the_default_outputs_of_every_type_are_accepted_and_nothing_else() throws IOException {
        Map<String, Set<String>> accepted = accepted();
        CredentialTypes.byName()
                .forEach((name, type) ->
                        assertEquals(
                                type.defaultOutputs().keySet(),
                                accepted.get(name),
                                "mm_defaults of mintmark-client, line " + name));
    }

    @Test
    void no_accepted_member_changes_what_programs_do() throws IOException {
        List<Pattern> steering = steering();
        for (Set<String> members : accepted().values()) {
            for (String member : members) {
                assertTrue(
                        steering.stream().noneMatch(glob -> glob.matcher(member).matches()),
                        member);
            }
        }
    }

    @Test
    void names_that_attacks_are_known_to_use_are_on_the_list() throws IOException {
        List<Pattern> steering = steering();
        List<String> names =
                List.of(
                        "PATH IFS ENV BASH_ENV LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES"
                                + " GCONV_PATH",
                        "MAKEFLAGS GNUMAKEFLAGS LESSOPEN LESSCLOSE PAGER GIT_PAGER MANPAGER EDITOR",
                        "NODE_OPTIONS JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS",
                        "PYTHONPATH PYTHONSTARTUP PERL5OPT PERL5LIB RUBYOPT RUBYLIB OPENSSL_CONF",
                        "GIT_SSH_COMMAND SSH_ASKPASS SSH_AUTH_SOCK http_proxy HTTPS_PROXY"
                                + " ALL_PROXY",
                        "SSL_CERT_FILE CURL_CA_BUNDLE AWS_CA_BUNDLE AWS_CONFIG_FILE KUBECONFIG",
                        "AWS_ENDPOINT_URL_STS DOCKER_HOST npm_config_script_shell RUSTC_WRAPPER",
                        "GITHUB_ENV GITHUB_PATH BASH_FUNC_ls HOME PGOPTIONS PGSERVICEFILE");
        for (String name : String.join(" ", names).split(" ", -1)) {
            assertTrue(steering.stream().anyMatch(glob -> glob.matcher(name).matches()), name);
        }
    }
}
