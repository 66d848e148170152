package io.mintmark.console.pages.frame;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;

/** Makes the URLs of pages. They are stable, because people send them to colleagues. */
public final class Links {
    private static final DateTimeFormatter MINUTE =
            DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm", Locale.ENGLISH)
                    .withZone(ZoneOffset.UTC);

    private Links() {}

    /** The page of a mint or a refusal. */
    public static String mint(Object id) {
        return "/mints/" + encoded(id.toString());
    }

    /** The page of a subject. */
    public static String subject(String subject) {
        return "/subjects?q=" + encoded(subject);
    }

    /** The mints and refusals of an actor. */
    public static String mintsOf(String actor) {
        return "/mints?actor=" + encoded(actor);
    }

    /** The page of what a login changed. */
    public static String person(String login) {
        return "/people/" + encoded(login);
    }

    /** The page of a key. */
    public static String key(String tenant, String key) {
        return "/keys/%s/%s".formatted(encoded(tenant), encoded(key));
    }

    /** The page of the access requests for a key. */
    public static String requests(String tenant, String key) {
        return "/requests?tenant=%s&key=%s".formatted(encoded(tenant), encoded(key));
    }

    /** A request for access. */
    public static String request(String id) {
        return "/requests/" + encoded(id);
    }

    /** A login that replaces the viewer's session with a new one and returns to a page. */
    public static String loginAgain(String page) {
        return "/login?to=" + encoded(page);
    }

    /** The page of a tenant. */
    public static String tenant(String tenant) {
        return "/tenants/" + encoded(tenant);
    }

    /** The page of a tenant's current week. */
    public static String week(String tenant) {
        return tenant(tenant) + "/week";
    }

    /** The configuration history of a tenant, or of the platform. */
    public static String history(Optional<String> tenant) {
        return tenant.map(name -> tenant(name) + "/history").orElse("/history");
    }

    /** The history of a row. */
    public static String history(Optional<String> tenant, String table, String row) {
        return "%s?table=%s&row=%s".formatted(history(tenant), encoded(table), encoded(row));
    }

    /** The configuration history of a tenant's row. */
    public static String history(String tenant, String table, String row) {
        return history(Optional.of(tenant), table, row);
    }

    /** The configuration history of a grant. */
    public static String grant(String tenant, long id) {
        return history(tenant, "subject_grant", Long.toString(id));
    }

    /** A whole minute in the form that the search's fields accept and show. */
    public static String time(Instant minute) {
        return encoded(minute(minute));
    }

    /** A minute in the form that URLs have, not encoded yet. */
    public static String minute(Instant at) {
        return MINUTE.format(at);
    }

    /** A change of a tenant's, followed by those before it. */
    public static String change(String tenant, long revision) {
        return history(Optional.of(tenant)) + "?before=" + (revision + 1);
    }

    /** Encodes a text for a path or a query. */
    public static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
