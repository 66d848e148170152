package io.mintmark.base.sql;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The settings that the service asks for in each session, independent of the server's defaults. A
 * pooler may drop them. Without the timeouts the service works and says what is missing; it takes
 * no session that could lose a confirmed row, or in which names could mean something else.
 */
final class ServiceSession {
    private static final Logger log = LoggerFactory.getLogger(ServiceSession.class);

    private static final String DURABILITY = "synchronous_commit";
    private static final String MORE_DURABLE = "remote_apply";
    private static final String SEARCH_PATH = "search_path";
    private static final List<Setting> ASKED =
            List.of(
                    new Setting(DURABILITY, "on"),
                    new Setting("statement_timeout", "5s"),
                    new Setting("lock_timeout", "4s"),
                    new Setting("idle_in_transaction_session_timeout", "10s"));

    /** The startup options that ask for them; each login asks for its search path itself. */
    static final String OPTIONS =
            ASKED.stream().map(Setting::option).collect(Collectors.joining(" "));

    private static final List<Setting> REQUIRED =
            Stream.concat(
                            ASKED.stream(),
                            Stream.of(new Setting(SEARCH_PATH, DatabaseLogin.SEARCH_PATH)))
                    .toList();

    private static final String QUESTION =
            REQUIRED.stream()
                    .map(setting -> "pg_catalog.current_setting('%s')".formatted(setting.name))
                    .collect(Collectors.joining(", ", "SELECT ", ""));

    /**
     * A setting as PostgreSQL shows it.
     *
     * @param value without blanks
     */
    private record Setting(String name, String value) {
        String option() {
            return "-c %s=%s".formatted(name, value);
        }

        boolean holdsWith(String found) {
            return found.equals(value) || (name.equals(DURABILITY) && found.equals(MORE_DURABLE));
        }

        String forLogin(String username) {
            String quoted = name.equals(SEARCH_PATH) ? value : "'%s'".formatted(value);
            return "ALTER ROLE \"%s\" SET %s = %s;"
                    .formatted(username.replace("\"", "\"\""), name, quoted);
        }
    }

    /** The service doesn't take the session. */
    static final class Refused extends SQLException {
        private static final long serialVersionUID = 1L;

        private Refused(Setting asked, String found, String why, String username) {
            super(
                    "the session has %s = '%s', so %s; a pooler may have dropped the settings that the broker asks for: %s"
                            .formatted(asked.name, found, why, asked.forLogin(username)));
        }
    }

    private final String username;
    private final AtomicBoolean warned = new AtomicBoolean();

    ServiceSession(String username) {
        this.username = username;
    }

    /**
     * Sees to it that the settings are in effect.
     *
     * @throws Refused without one that the log's integrity depends on
     */
    void require(Connection connection) throws SQLException {
        Map<Setting, String> others = others(connection);
        for (Map.Entry<Setting, String> other : others.entrySet()) {
            switch (other.getKey().name) {
                case DURABILITY -> throw refused(other, "confirmed rows could be lost");
                case SEARCH_PATH -> {
                    if (("," + other.getValue() + ",").indexOf(",pg_catalog,") > 0) {
                        throw refused(other, "names in SQL could resolve to other objects");
                    }
                }
                default -> {
                    // only a limit
                }
            }
        }
        if (!others.isEmpty() && !warned.getAndSet(true)) {
            log.warn(
                    "The database's sessions lack settings that the broker asks for; a pooler may"
                            + " have dropped them. Set them for the broker's login: {}",
                    others.keySet().stream()
                            .map(setting -> setting.forLogin(username))
                            .collect(Collectors.joining(" ")));
        }
    }

    private Refused refused(Map.Entry<Setting, String> other, String why) {
        return new Refused(other.getKey(), other.getValue(), why, username);
    }

    /** The settings whose values in the session differ from the requested ones. */
    private static Map<Setting, String> others(Connection connection) throws SQLException {
        Map<Setting, String> others = new LinkedHashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery(QUESTION)) {
            found.next();
            for (int n = 0; n < REQUIRED.size(); n++) {
                Setting asked = REQUIRED.get(n);
                String value = found.getString(n + 1).replace(" ", "");
                if (!asked.holdsWith(value)) {
                    others.put(asked, value);
                }
            }
        }
        return others;
    }
}
