package io.mintmark.postgres;

import io.mintmark.tenant.TenantName;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Hears of changed configuration, on a connection of its own. This only makes things faster: what
 * is missed is found out by asking.
 */
public final class Notifications implements AutoCloseable {

    /** What is done about a change. Called by one thread. */
    public interface Listener {

        /** Rows of a tenant were changed. */
        void changed(TenantName tenant);

        /**
         * Anything may have changed: what belongs to no tenant did, or changes may have been
         * missed.
         */
        void unsure();
    }

    private static final Logger log = LoggerFactory.getLogger(Notifications.class);
    private static final String LISTEN = "LISTEN mintmark_catalog";
    private static final String NAME = "SELECT name FROM broker.tenant WHERE external_id = ?";
    private static final Pattern EXTERNAL_ID =
            Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration PROBE = Duration.ofSeconds(15);
    private static final int SOCKET_TIMEOUT_SECONDS = 30;
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
            hear(connection, statement);
        } catch (SQLException e) {
            log.warn("Changes of configuration aren't heard of at once: {}", e.getMessage());
        } finally {
            listening = false;
        }
    }

    private void hear(Connection connection, Statement statement) throws SQLException {
        PGConnection announcements = connection.unwrap(PGConnection.class);
        long probed = System.nanoTime();
        while (closed.getCount() > 0) {
            tell(connection, announcements.getNotifications((int) POLL.toMillis()));
            if (System.nanoTime() - probed > PROBE.toNanos()) {
                probed = System.nanoTime();
                statement.execute("SELECT 1");
            }
        }
    }

    private void tell(Connection connection, PGNotification @Nullable [] notifications)
            throws SQLException {
        if (notifications != null) {
            for (PGNotification notification : notifications) {
                tell(connection, notification.getParameter());
            }
        }
    }

    /** Any login can announce anything; what names no tenant isn't from the triggers. */
    private void tell(Connection connection, String announced) throws SQLException {
        if (announced.isEmpty()) {
            listener.unsure();
        } else if (EXTERNAL_ID.matcher(announced).matches()) {
            name(connection, UUID.fromString(announced)).ifPresent(listener::changed);
        }
    }

    private static Optional<TenantName> name(Connection connection, UUID externalId)
            throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(NAME)) {
            query.setObject(1, externalId);
            ResultSet rows = query.executeQuery();
            return rows.next() ? Optional.of(new TenantName(rows.getString(1))) : Optional.empty();
        }
    }

    private Connection connect() throws SQLException {
        PGSimpleDataSource source = login.source("mintmark catalogue", "-c TimeZone=UTC");
        source.setSocketTimeout(SOCKET_TIMEOUT_SECONDS);
        return source.getConnection();
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
