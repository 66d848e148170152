package io.mintmark.audit.log;

import io.mintmark.base.sql.SqlRunner;

import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/** Pages of the console, of the rows of {@link BulkRows}, and who looks at them. */
final class FigurePages {
    static final String VIEWERS =
            """
            INSERT INTO broker.console_access (tenant, all_tenants, claim, value)
            VALUES (NULL, true, 'role', '"auditor"'), ('tenant-3', false, 'groups', '"acme-leads"'),
                   ('wide', false, 'groups', '"globex-leads"')
                ON CONFLICT DO NOTHING;
            """;

    private static final long MOST_MILLIS = 300;

    /** A file has a hundred times as many rows as a page. */
    private static final long MOST_MILLIS_OF_A_FILE = 1_500;

    private static final String BUSY = BulkRows.BUSY.replace(":", "%3A");

    /** A page, and the viewer with partial access who opens it. */
    record Asked(String what, String path, String lead) {
        Asked(String what, String path) {
            this(what, path, "lead");
        }

        long most() {
            return what.endsWith("as a file") ? MOST_MILLIS_OF_A_FILE : MOST_MILLIS;
        }
    }

    private FigurePages() {}

    static List<Asked> all(SqlRunner superuser) {
        List<Asked> all = new ArrayList<>(asked(superuser));
        all.addAll(askedOfManyGrants());
        return all;
    }

    /** Pages of the rows of {@link BulkRows#work}. */
    static List<Asked> ofRequests(SqlRunner superuser) {
        String request =
                superuser.value(
                        "SELECT max(id::text) FROM broker.access_request WHERE tenant = 'tenant-3'");
        String mint =
                superuser.value(
                        "SELECT max(mint_id::text) FROM audit.event WHERE tenant = 'acme' AND kind = 'issued'");
        return List.of(
                new Asked("open requests", "/requests?show=open"),
                new Asked("decided requests", "/requests?show=decided"),
                new Asked("requests that broke the glass", "/requests?show=break-glass"),
                new Asked("a request", "/requests/" + request),
                new Asked("a receipt", "/proof/receipt?mint=" + mint));
    }

    private static List<Asked> asked(SqlRunner superuser) {
        List<String> mint =
                superuser.column(
                        "SELECT unnest(ARRAY[mint_id::text, credential_id,"
                                + " encode(token_hash, 'hex'), request_id]) FROM (SELECT * FROM"
                                + " audit.event WHERE tenant = 'tenant-3' AND kind = 'issued'"
                                + " AND mint_id < audit.first_mint_id(now() - interval '20"
                                + " days') ORDER BY mint_id DESC LIMIT 1)");
        String denied =
                superuser.value(
                        "SELECT mint_id FROM audit.event WHERE tenant = 'tenant-3' AND kind"
                                + " = 'denied' ORDER BY mint_id DESC LIMIT 1");
        String early =
                superuser.value("SELECT audit.first_mint_id(now() - interval '89 days 20 hours')");
        String grant =
                superuser.value(
                        "SELECT min(id) FROM broker.subject_grant WHERE tenant = 'tenant-3'");
        return List.of(
                new Asked("overview", "/"),
                new Asked("overview of an hour", "/?range=hour"),
                new Asked("overview of a week", "/?range=week"),
                new Asked("overview of a month", "/?range=month"),
                new Asked("overview of a quarter", "/?range=quarter"),
                new Asked("mints, the latest", "/mints"),
                new Asked("mints of a quarter", "/mints?range=quarter"),
                new Asked("mints by an access key id", "/mints?q=" + mint.get(1)),
                new Asked("mints by a request id", "/mints?q=" + mint.get(3)),
                new Asked("mints by a token's SHA-256", "/mints?q=" + mint.get(2)),
                new Asked("mints of a busy subject", "/mints?q=" + BUSY),
                new Asked("mints of a subject", "/mints?q=job%3A77"),
                new Asked("mints of a subject's quarter", "/mints?subject=job%3A77&range=quarter"),
                new Asked(
                        "mints of a busy subject in a tenant",
                        "/mints?tenant=tenant-3&subject=" + BUSY),
                new Asked("mints of an actor", "/mints?actor=agent%3A7"),
                new Asked("mints of a tenant", "/mints?tenant=tenant-3"),
                new Asked("a tenant's quarter", "/mints?tenant=tenant-3&range=quarter"),
                new Asked("mints of a quiet tenant", "/mints?tenant=tenant-1999&range=quarter"),
                new Asked("mints of a tenant's key", "/mints?tenant=tenant-3&key=key-7"),
                new Asked(
                        "a quarter of a tenant's key",
                        "/mints?tenant=tenant-3&key=key-7&range=quarter"),
                new Asked(
                        "denials of a tenant's key",
                        "/mints?tenant=tenant-3&key=key-7&outcome=denied"),
                new Asked(
                        "failures of a tenant's quarter",
                        "/mints?tenant=tenant-3&outcome=failed&range=quarter"),
                new Asked("the last page of a quarter", "/mints?range=quarter&before=" + early),
                new Asked(
                        "the last page of a tenant's key",
                        "/mints?tenant=tenant-3&key=key-7&before=" + early),
                new Asked("mints of a rare key", "/mints?key=" + BulkRows.RARE),
                new Asked("mints of what isn't there", "/mints?q=nobody"),
                new Asked("failed mints", "/mints?outcome=failed"),
                new Asked("withheld mints, of which there are none", "/mints?outcome=withheld"),
                new Asked("denied", "/mints?outcome=denied"),
                new Asked("unresolved mints", "/mints?outcome=unresolved"),
                new Asked("credentials that live", "/mints?outcome=live"),
                new Asked("mints of a day", "/mints?outcome=minted&from=" + day(1)),
                new Asked("refusals of a day", "/mints?outcome=refused&from=" + day(1)),
                new Asked(
                        "mints of a day a month ago",
                        "/mints?from=%s&to=%s".formatted(day(30), day(30))),
                new Asked("mints as a file", "/mints/download"),
                new Asked("a quarter as a file", "/mints/download?range=quarter"),
                new Asked(
                        "denials of a key as a file",
                        "/mints/download?tenant=tenant-3&key=key-7&outcome=denied"),
                new Asked("a mint", "/mints/" + mint.getFirst()),
                new Asked("a busy subject", "/subjects?q=" + BUSY),
                new Asked("a subject", "/subjects?q=job%3A77"),
                new Asked("a key", "/keys/tenant-3/key-7"),
                new Asked("a key a minute ago", "/keys/tenant-3/key-7?at=" + aMinuteAgo()),
                new Asked("a key of two years ago", "/keys/tenant-3/key-7?at=" + day(730)),
                new Asked("subjects", "/subjects"),
                new Asked("tenants", "/tenants"),
                new Asked("reviews", "/reviews"),
                new Asked("reviews as a file", "/reviews/download"),
                new Asked("a person", "/people/admin-3"),
                new Asked("a person who changed nothing", "/people/nobody"),
                new Asked("requests", "/requests"),
                new Asked("requests for a key", "/requests?tenant=tenant-3&key=key-7"),
                new Asked("a tenant", "/tenants/tenant-3"),
                new Asked("a tenant's history", "/tenants/tenant-3/history"),
                new Asked(
                        "a grant's history",
                        "/tenants/tenant-3/history?table=subject_grant&row=" + grant),
                new Asked("a denial", "/mints/" + denied),
                new Asked("a denial explained", "/explain?mint=" + denied),
                new Asked("history of what belongs to no tenant", "/history"),
                new Asked(
                        "a person's changes of a tenant",
                        "/tenants/tenant-3/history?by=admin-3&from=" + day(30)),
                new Asked("proof", "/proof"),
                new Asked("older checkpoints", "/proof?before=100"),
                new Asked("checkpoints as a file", "/proof/checkpoints"));
    }

    private static List<Asked> askedOfManyGrants() {
        return List.of(
                new Asked("overview beside 100,000 grants", "/", "other"),
                new Asked("a tenant of 100,000 grants", "/tenants/wide", "other"),
                new Asked("its history", "/tenants/wide/history", "other"),
                new Asked(
                        "history of its grants",
                        "/tenants/wide/history?table=subject_grant",
                        "other"),
                new Asked(
                        "changes of a person among its 100,000",
                        "/tenants/wide/history?by=admin-3&table=subject_grant",
                        "other"),
                new Asked(
                        "what a person never changed", "/tenants/wide/history?by=nobody", "other"),
                new Asked(
                        "its changes of a day",
                        "/tenants/wide/history?from=%s&to=%s".formatted(day(200), day(200)),
                        "other"),
                new Asked("its oldest changes", "/tenants/wide/history?before=60", "other"),
                new Asked("a person beside them", "/people/admin-3", "other"),
                new Asked("a key of 50,000 grants", "/keys/wide/key-0", "other"),
                new Asked("the key a minute ago", "/keys/wide/key-0?at=" + aMinuteAgo(), "other"),
                new Asked("a key of 1,000 grants", "/keys/wide/key-7", "other"),
                new Asked("that key a minute ago", "/keys/wide/key-7?at=" + aMinuteAgo(), "other"),
                new Asked("a subject among 100,000", "/subjects?q=job%3A4711", "other"),
                new Asked("a subject of a glob among 1,000", "/subjects?q=job%3A4700%3Ax", "other"),
                new Asked(
                        "a token explained",
                        "/explain?idp=idp-wide&claims=%7B%22sub%22%3A%22job%3A4711%22%7D",
                        "other"),
                new Asked("tenants searched", "/tenants?q=wide", "other"));
    }

    private static String aMinuteAgo() {
        return Instant.now().minusSeconds(60).toString().replace(":", "%3A");
    }

    private static LocalDate day(int ago) {
        return LocalDate.now(ZoneOffset.UTC).minusDays(ago);
    }
}
