package io.mintmark.postgres;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Hears of changed configuration, on a connection of its own. This only makes things faster: what
 * is missed is found out by asking.
 */
public final class Notifications implements AutoCloseable {

    /** What is done about a change. Called by one thread. */
    public interface Listener {

        /**
         * A tenant was changed.
         *
         * @param tenant whose rows changed; empty for tables without tenant
         */
        void changed(String tenant);

        /** Changes may have been missed. */
        void unsure();
    }

    private static final Logger log = LoggerFactory.getLogger(Notifications.class);
    private static final String LISTEN = "LISTEN mintmark_catalog";
    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration PROBE = Duration.ofSeconds(15);
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final DatabaseLogin login;
    private final Listener listener;
    private final Thread thread;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile boolean listening;

    public Notifications(DatabaseLogin login, Listener listener) {
        this.login = login;
        this.listener = listener;
        this.thread = Thread.ofPlatform().name("catalogue-changes").daemon().unstarted(this::run);
    }

    /** Starts to listen. */
    public Notifications start() {
        thread.start();
        return this;
    }

    /** Whether changes are heard of now. */
    public boolean isListening() {
        return listening;
    }

    private void run() {
        try {
            do {
                listenUntilItBreaks();
            } while (!closed.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            log.warn("Changes of configuration are no longer heard of at once", e);
        }
    }

    private void listenUntilItBreaks() {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(LISTEN);
            listening = true;
            listener.unsure();
            hear(connection.unwrap(PGConnection.class), statement);
        } catch (SQLException e) {
            log.warn("Changes of configuration aren't heard of at once: {}", e.getMessage());
        } finally {
            listening = false;
        }
    }

    private void hear(PGConnection connection, Statement statement) throws SQLException {
        long probed = System.nanoTime();
        while (closed.getCount() > 0) {
            tell(connection.getNotifications((int) POLL.toMillis()));
            if (System.nanoTime() - probed > PROBE.toNanos()) {
                probed = System.nanoTime();
                statement.execute("SELECT 1");
            }
        }
    }

    private void tell(PGNotification @Nullable [] notifications) {
        if (notifications != null) {
            for (PGNotification notification : notifications) {
                listener.changed(notification.getParameter());
            }
        }
    }

    private Connection connect() throws SQLException {
        Properties properties = new Properties();
        properties.setProperty("user", login.username());
        login.password().ifPresent(password -> properties.setProperty("password", password));
        properties.setProperty("ApplicationName", "mintmark catalogue");
        properties.setProperty("tcpKeepAlive", "true");
        properties.setProperty("connectTimeout", "5");
        properties.setProperty("socketTimeout", "30");
        return DriverManager.getConnection(login.url(), properties);
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            thread.join(PAUSE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
