package io.mintmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mintmark.base.sql.TestDatabase;
import io.mintmark.base.sql.TestDatabase.Who;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** What docs/adding-a-provider.md prints works as it is. */
class AddingAProviderTest {
    private static final Path PAGE = Path.of("docs", "adding-a-provider.md");
    private static final Pattern BLOCK = Pattern.compile("(?s)```java\n(.*?)```");
    private static final Path TYPES = Path.of("db", "migration", "R__47_provider_types.sql");
    private static final Pattern ROW = Pattern.compile("(?s)```sql\n(\\('jwt-bearer'.*?)```");
    private static final Pattern FIRST_ROW = Pattern.compile("(?m)^\\('aws-sts'");
    private static final Pattern NAME = Pattern.compile("public final class (\\w+)");

    /** What a reader's editor would import. */
    private static final String IMPORTS =
            """
            package io.mintmark.provider.jwtbearer;
            import com.fasterxml.jackson.databind.JsonNode;
            import io.mintmark.base.credential.*;
            import io.mintmark.provider.identity.*;
            import io.mintmark.provider.*;
            import io.mintmark.provider.web.*;
            import io.mintmark.base.outbound.*;
            import java.util.*;
            """;

    @TempDir Path classes;

    @Test
    void the_example_compiles() throws IOException {
        List<String> examples =
                BLOCK.matcher(Files.readString(PAGE))
                        .results()
                        .map(block -> block.group(1))
                        .toList();
        assertEquals(2, examples.size());
        var sources = examples.stream().map(AddingAProviderTest::source).toList();
        StringWriter output = new StringWriter();

        boolean compiled =
                ToolProvider.getSystemJavaCompiler()
                        .getTask(
                                output,
                                null,
                                null,
                                List.of("-d", classes.toString(), "-proc:none"),
                                null,
                                sources)
                        .call();

        assertTrue(compiled, output::toString);
    }

    @Test
    void its_row_is_valid() throws IOException {
        Matcher row = ROW.matcher(Files.readString(PAGE));
        assertTrue(row.find());
        Matcher first = FIRST_ROW.matcher(Files.readString(TYPES));
        assertTrue(first.find());
        String types = first.replaceFirst(Matcher.quoteReplacement(row.group(1)) + "$0");
        try (TestDatabase database = TestDatabase.migrated()) {
            database.run(Who.OWNER, types);
            database.run(Who.OWNER, types);
            database.run(
                    Who.ADMIN,
                    """
                    INSERT INTO broker.tenant (name) VALUES ('acme');
                    INSERT INTO broker.access_provider (tenant, name, type, settings)
                    VALUES ('acme', 'own', 'jwt-bearer', '{"token_endpoint": "https://auth.example.com/token"}');
                    INSERT INTO broker.key (tenant, name, provider, max_duration, settings)
                    VALUES ('acme', 'api', 'own', 600, '{"scope": "read"}')
                    """);
        }
    }

    private static JavaFileObject source(String example) {
        String name =
                NAME.matcher(example)
                        .results()
                        .map((MatchResult found) -> found.group(1))
                        .findFirst()
                        .orElseThrow();
        return new SimpleJavaFileObject(
                URI.create("string:///" + name + ".java"), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return IMPORTS + example;
            }
        };
    }
}
