package io.mintmark.base.sql;

import io.mintmark.Unchecked;
import io.mintmark.audit.Event;
import io.mintmark.audit.Event.Actor;
import io.mintmark.audit.Event.Caller;
import io.mintmark.audit.Event.Credential;
import io.mintmark.audit.Event.End;
import io.mintmark.audit.Event.GrantReference;
import io.mintmark.audit.Event.How;
import io.mintmark.audit.Event.Subject;
import io.mintmark.audit.Kind;
import io.mintmark.audit.MintEvents;
import io.mintmark.audit.log.PostgresEventStore;
import io.mintmark.base.tenant.IdpName;
import io.mintmark.base.tenant.KeyName;
import io.mintmark.base.tenant.MintIds;
import io.mintmark.base.tenant.ProviderName;
import io.mintmark.base.tenant.TenantName;

import java.net.InetAddress;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** Rows for the audit log, such as requests make them, and worse. */
public final class AuditRows {
    private static final MintIds IDS = new MintIds(InstantSource.system(), new Random());

    private static final GrantReference AWS =
            new GrantReference(new ProviderName("aws"), "aws-sts", 7, 12, 1, "cd".repeat(32));

    private AuditRows() {}

    /** Writes rows as another replica would. */
    public static void append(TestDatabase database, String broker, List<Event> rows) {
        try (Database connections = database.pool()) {
            new PostgresEventStore(connections, broker).append(rows);
        }
    }

    /** Both rows of a mint. */
    public static List<Event> mint(String subject, String claims) {
        return mint(subject, claims, "2001:db8::7", Instant.now());
    }

    /** Both rows of a mint by somebody who acts for the subject. */
    public static List<Event> mintBy(String actor, String subject) {
        Subject both =
                subject(subject, "{}")
                        .with(
                                Optional.of(
                                        new Actor(
                                                Optional.of(new IdpName("agents")),
                                                "https://agents.example.com",
                                                Optional.of(actor),
                                                Optional.of("{}"),
                                                Optional.empty(),
                                                Optional.of("ef".repeat(32)))));
        Instant now = Instant.now();
        MintEvents events =
                new MintEvents(
                        IDS.next(),
                        new Caller("request", address("10.0.0.1"), Optional.empty()),
                        both,
                        new KeyName("deploy"),
                        Optional.of(AWS));
        Instant end = now.plusSeconds(3600);
        return List.of(
                events.requested(now, end),
                events.issued(
                        now, new Credential(Optional.of("ASIA" + actor), Optional.of(now), end)));
    }

    /** Both rows of a mint in the past. */
    public static List<Event> mintAt(Instant when, String subject) {
        MintIds ids = new MintIds(InstantSource.fixed(when), new Random());
        return mint(ids, subject, "{}", "10.0.0.1", when);
    }

    /** Both rows of a mint whose id is of another time. */
    public static List<Event> mint(MintIds ids, String subject, Instant now) {
        return mint(ids, subject, "{}", "10.0.0.1", now);
    }

    public static List<Event> mint(String subject, String claims, String address, Instant now) {
        return mint(IDS, subject, claims, address, now);
    }

    /** Both rows of a mint of another key and type of provider, handed out or not. */
    public static List<Event> mint(String key, String type, String credential, boolean handedOut) {
        Instant now = Instant.now();
        MintEvents events =
                events(
                        IDS,
                        "ci:main",
                        "{}",
                        "10.0.0.1",
                        key,
                        new GrantReference(
                                new ProviderName("cloud"), type, 7, 12, 1, "cd".repeat(32)));
        Instant end = now.plusSeconds(3600);
        Credential note = new Credential(Optional.of(credential), Optional.of(now), end);
        return List.of(
                events.requested(now, end),
                handedOut
                        ? events.issued(now, note)
                        : events.withheld(now, "other_key_failed", "words", note));
    }

    /** Both rows of a mint whose credential lives for less time than was asked for. */
    public static List<Event> shortLived(String subject, String detail) {
        Instant now = Instant.now();
        MintEvents events = events(IDS, subject, "{}", "10.0.0.1");
        Credential note =
                new Credential(Optional.of("ASIASHORT"), Optional.of(now), now.plusSeconds(20));
        return List.of(
                events.requested(now, now.plusSeconds(3600)),
                events.issued(now, Optional.of(detail), note));
    }

    /** Both rows of a mint that failed. */
    public static List<Event> failed(String subject, String reason) {
        Instant now = Instant.now();
        MintEvents events = events(IDS, subject, "{}", "10.0.0.1");
        return List.of(
                events.requested(now, now.plusSeconds(3600)), events.failed(now, reason, "words"));
    }

    /** The end of a mint's credential. */
    public static Event ended(List<Event> mint, How how) {
        Event last = mint.getLast();
        GrantReference under = last.grant().orElseThrow();
        End end =
                new End(
                        last.subject().orElseThrow().tenant().orElseThrow(),
                        under.provider(),
                        under.providerType(),
                        last.credential().flatMap(Credential::id));
        return Event.ended(
                last.mintId(),
                Instant.now(),
                last.key().orElseThrow(),
                end,
                how,
                how == How.DISARMED ? Optional.of("it owns 1 table") : Optional.empty());
    }

    /** The row of a key that was refused. */
    public static Event denied(String subject) {
        return events(IDS, subject, "{}", "10.0.0.1").denied(Instant.now(), "not_granted");
    }

    private static List<Event> mint(
            MintIds ids, String subject, String claims, String address, Instant now) {
        MintEvents events = events(ids, subject, claims, address);
        Instant end = now.plusSeconds(3600);
        return List.of(
                events.requested(now, end),
                events.issued(
                        now.plusNanos(123_456_789),
                        new Credential(Optional.of("ASIA" + subject), Optional.of(now), end)));
    }

    private static MintEvents events(MintIds ids, String subject, String claims, String address) {
        return events(ids, subject, claims, address, "deploy", AWS);
    }

    private static MintEvents events(
            MintIds ids,
            String subject,
            String claims,
            String address,
            String key,
            GrantReference grant) {
        return new MintEvents(
                ids.next(),
                new Caller("request", address(address), Optional.of("agent/1 \"é\"\t\\")),
                subject(subject, claims),
                new KeyName(key),
                Optional.of(grant));
    }

    /** The row of a token that isn't accepted. */
    public static Event rejected() {
        return new Event(
                IDS.next(),
                Kind.REJECTED,
                Instant.now(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.of("overflow"),
                Optional.of("12"),
                Optional.empty(),
                Optional.empty());
    }

    private static Subject subject(String subject, String claims) {
        return new Subject(
                Optional.of(new TenantName("acme")),
                Optional.of(new IdpName("ci")),
                "https://issuer.example.com",
                Optional.of(subject),
                Optional.empty(),
                "ab".repeat(32),
                Optional.of(claims));
    }

    private static InetAddress address(String text) {
        return Unchecked.call(() -> InetAddress.getByName(text));
    }
}
