package io.mintmark.base.config;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** An environment with all that a broker needs, in a directory of the test's own. */
final class Environment {
    private final Path directory;
    private final Map<String, String> variables = new HashMap<>();

    Environment(Path directory) throws IOException {
        this.directory = directory;
        variables.put("DATABASE_URL", "jdbc:postgresql://localhost/mintmark");
        variables.put("DATABASE_USERNAME", "app");
        variables.put("DATABASE_OWNER_USERNAME", "owner");
        variables.put("BROKER_URL", "https://broker.example.com");
        variables.put("BROKER_SIGNING_KEYS_DIR", directory.toString());
        variables.put(
                "AUDIT_SIGNING_KEY_FILE",
                Files.writeString(directory.resolve("audit.pem"), "a key").toString());
    }

    Environment with(String name, String text) {
        variables.put(name, text);
        return this;
    }

    Environment without(String name) {
        variables.remove(name);
        return this;
    }

    Environment file(String yaml) throws IOException {
        Files.writeString(directory.resolve("application.yaml"), yaml);
        return this;
    }

    SettingsReader reader() {
        return new SettingsReader(variables, directory);
    }

    ServiceSettings settings() {
        return reader().all();
    }

    /** Why these settings are refused. */
    String refusal() {
        return String.valueOf(assertThrows(InvalidSettings.class, this::settings).getMessage());
    }
}
