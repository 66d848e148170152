package io.mintmark.console.pages.tenants;

import io.mintmark.base.sql.Query;
import io.mintmark.console.pages.frame.Frame;

import java.net.URI;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/** A setting of a tenant, as a label and a value for people. */
record TenantSetting(String label, String value) {
    private static final String SETTINGS =
            """
            SELECT t.max_keys, t.max_grants, t.max_globs, t.max_calls, t.max_requests::bigint AS max_requests,
                   t.max_duration::bigint AS max_duration, t.max_changes,
                   t.require_owner, t.require_second_admin, t.review_days, t.notice_url
              FROM broker.tenant AS t WHERE t.name = ?
            """;

    static List<TenantSetting> of(Connection connection, String tenant) throws SQLException {
        return Query.of(SETTINGS, tenant).first(connection, TenantSetting::all).orElse(List.of());
    }

    private static List<TenantSetting> all(ResultSet row) throws SQLException {
        return List.of(
                new TenantSetting(
                        "Limits",
                        "%s, %s, of which %s"
                                .formatted(
                                        Frame.count(row.getLong("max_keys"), "key"),
                                        Frame.count(row.getLong("max_grants"), "grant"),
                                        Frame.count(row.getLong("max_globs"), "glob"))),
                new TenantSetting(
                        "Calls to providers at a time", Frame.number(row.getLong("max_calls"))),
                new TenantSetting(
                        "Requests a minute",
                        Query.number(row, "max_requests").map(Frame::number).orElse("no limit")),
                new TenantSetting(
                        "Longest credential",
                        Query.number(row, "max_duration").map(Frame::seconds).orElse("no limit")),
                new TenantSetting("Changes a day", Frame.number(row.getLong("max_changes"))),
                new TenantSetting(
                        "Reviews", "every %s".formatted(days(row.getLong("review_days")))),
                new TenantSetting(
                        "Owner of keys and grants",
                        row.getBoolean("require_owner") ? "required" : "optional"),
                new TenantSetting(
                        "Second admin",
                        row.getBoolean("require_second_admin")
                                ? "approves keys and grants"
                                : "not required"),
                new TenantSetting(
                        "Notices of requests",
                        Query.text(row, "notice_url").map(TenantSetting::host).orElse("none")));
    }

    /**
     * The host of a URL. The path isn't shown, because at some services it is as good as a
     * password.
     */
    private static String host(String url) {
        return "to " + URI.create(url).getHost();
    }

    private static String days(long number) {
        return Frame.count(number, "day");
    }
}
