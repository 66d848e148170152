package io.mintmark.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;
import io.mintmark.clients.ClientProcess.Ended;
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
import java.util.stream.Stream;

/** The lists of names in the shell client, and the database's. */
class ClientMembersTest {
    private static final List<String> ATTACKS =
            words(
                    "PATH IFS ENV BASH_ENV LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH",
                    "MAKEFLAGS GNUMAKEFLAGS LESSOPEN LESSCLOSE PAGER GIT_PAGER MANPAGER EDITOR",
                    "NODE_OPTIONS JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS",
                    "PYTHONPATH PYTHONSTARTUP PERL5OPT PERL5LIB RUBYOPT RUBYLIB OPENSSL_CONF",
                    "GIT_SSH_COMMAND SSH_ASKPASS SSH_AUTH_SOCK http_proxy HTTPS_PROXY ALL_PROXY",
                    "SSL_CERT_FILE CURL_CA_BUNDLE AWS_CA_BUNDLE AWS_CONFIG_FILE KUBECONFIG",
                    "AWS_ENDPOINT_URL_STS DOCKER_HOST npm_config_script_shell RUSTC_WRAPPER",
                    "GITHUB_ENV GITHUB_PATH BASH_FUNC_ls HOME PGOPTIONS PGSERVICEFILE",
                    "PGSSLROOTCERT PGPASSFILE PGSERVICE PGSSLKEY RSYNC_RSH BORG_PASSCOMMAND",
                    "RESTIC_PASSWORD_COMMAND SVN_SSH RCLONE_SFTP_SSH FZF_DEFAULT_COMMAND HGRCPATH",
                    "GTK_MODULES QT_PLUGIN_PATH CARGO_BUILD_RUSTC NPM_CONFIG_REGISTRY DOCKER_CONFIG",
                    "PIP_USER LD_SDK_KEY_X BUNDLE_USER_HOME RUBYGEMS_GEMDEPS HELM_KUBETOKEN",
                    "AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3_X CLOUDSDK_CONFIG MAVEN_ARGS GIT_TOKEN_X",
                    "MYSQL_HOME LIBMYSQL_PLUGIN_DIR ORACLE_HOME TNS_ADMIN ODBCINI ODBCSYSINI");

    private static final List<String> SECRETS =
            words(
                    "NPM_TOKEN NODE_AUTH_TOKEN CARGO_REGISTRY_TOKEN DOCKER_PASSWORD",
                    "DOCKER_AUTH_CONFIG GEM_HOST_API_KEY YARN_NPM_AUTH_TOKEN MAVEN_PASSWORD",
                    "HELM_REGISTRY_PASSWORD ANSIBLE_VAULT_PASSWORD GIT_TOKEN",
                    "CARGO_REGISTRIES_ACME_TOKEN DOCKER_USERNAME MAVEN_USERNAME",
                    "NPM_USER NPM_PASSWORD GIT_USERNAME GIT_PASSWORD RUBYGEMS_API_KEY PIP_TOKEN",
                    "HELM_PASSWORD LD_SDK_KEY YARN_TOKEN DOTNET_TOKEN GRADLE_PUBLISH_KEY",
                    "AWS_ENDPOINT_URL_S3 CLOUDSDK_AUTH_ACCESS_TOKEN CLOUDSDK_CORE_PROJECT");

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

    /** Names with stars. */
    private static List<Pattern> globs(String variable) throws IOException {
        return list(variable).stream()
                .flatMap(line -> Arrays.stream(line.split(" ")))
                .map(glob -> Pattern.compile(Pattern.quote(glob).replace("*", "\\E.*\\Q")))
                .toList();
    }

    /** Whether a variable changes what programs do. */
    private static boolean steers(String name) throws IOException {
        return globs("mm_steering").stream().anyMatch(glob -> glob.matcher(name).matches())
                && globs("mm_harmless").stream().noneMatch(glob -> glob.matcher(name).matches());
    }

    /** A key with such an output could be minted, but never used with this client. */
    @Test
    void the_database_refuses_outputs_by_the_same_lists() throws IOException {
        String sql = Files.readString(Path.of("db", "migration", "R__35_key.sql"));
        List<List<String>> lists =
                Pattern.compile("is_one_of\\(variable, '\n(.*?)\n *'", Pattern.DOTALL)
                        .matcher(sql)
                        .results()
                        .map(found -> found.group(1).lines().map(String::strip).toList())
                        .toList();
        assertEquals(List.of(list("mm_steering"), list("mm_harmless")), lists);
    }

    private static List<String> words(String... lines) {
        return List.of(String.join(" ", lines).split(" "));
    }

    @Test
    void the_database_decides_as_the_lists_say() throws IOException {
        try (TestDatabase database = TestDatabase.migrated()) {
            for (String name : Stream.of(ATTACKS, SECRETS).flatMap(List::stream).toList()) {
                database.assertRows(
                        Who.ADMIN,
                        "SELECT internal.steers_programs('%s')".formatted(name),
                        steers(name) ? "t" : "f");
            }
        }
    }

    @Test
    void the_client_decides_as_the_lists_say() {
        ClientProcess client = ClientProcess.under(Shell.installed().findFirst().orElseThrow());
        for (String name : ATTACKS) {
            Ended ended = client.run("get", "--member", name, "deploy");
            assertTrue(ended.err().contains("this variable changes what programs do"), name);
        }
        for (String name : SECRETS) {
            Ended ended = client.run("get", "--member", name, "deploy");
            assertTrue(ended.err().contains("MINTMARK_URL is not set"), name + ended.err());
        }
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
        for (Set<String> members : accepted().values()) {
            for (String member : members) {
                assertFalse(steers(member), member);
            }
        }
    }

    @Test
    void names_that_attacks_are_known_to_use_are_on_the_list() throws IOException {
        for (String name : ATTACKS) {
            assertTrue(steers(name), name);
        }
    }

    @Test
    void credentials_are_no_attack_though_their_names_look_like_one() throws IOException {
        for (String name : SECRETS) {
            assertFalse(steers(name), name);
        }
    }
}
