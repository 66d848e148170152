package io.mintmark.console.pages.overview;

import io.mintmark.console.pages.frame.Frame;
import io.mintmark.console.pages.frame.Links;
import io.mintmark.console.pages.mints.MintLine;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What needs somebody, the most urgent first, and what is in order.
 *
 * @param seesLog whether the viewer may see how far the log is sealed
 * @param verified when the log was last verified, for the sentence
 */
record Needs(List<Need> all, boolean seesLog, Optional<Instant> verified) {
    /** The maximum number of needs in the page's sentence. */
    private static final int IN_SENTENCE = 2;

    private static final List<String> NUMBERS =
            List.of("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine");

    /** The kinds of needs, in the order of their urgency. */
    enum Kind {
        LOG,
        BREAK_GLASS,
        REQUEST,
        UNRESOLVED,
        UNREVOKED,
        ENDING,
        REVIEW,
        LINT
    }

    /**
     * Something that needs somebody.
     *
     * @param number how many there are, or the verdict on the log
     * @param what they are, as a link
     * @param href where they are listed
     * @param whose the one that has waited longest, or the tenants
     * @param whoseHref its page
     * @param since when the first of them waits
     * @param action what to do
     * @param clause the same as part of a sentence
     */
    record Need(
            Kind kind,
            String number,
            String what,
            String href,
            String whose,
            Optional<String> whoseHref,
            Optional<Instant> since,
            String action,
            String clause) {}

    static Needs of(OverviewPage page, Instant now) {
        List<Need> needs = new ArrayList<>();
        if (page.seesAll() && !page.isSealed(now)) {
            needs.add(log(page, now));
        }
        needs.addAll(requests(page.attention().requests()));
        needs.addAll(credentials(page, now));
        needs.addAll(configuration(page.attention()));
        return new Needs(
                List.copyOf(needs), page.seesAll(), page.verified().filter(_ -> page.seesAll()));
    }

    private static Need log(OverviewPage page, Instant now) {
        String action =
                page.isWrong()
                        ? "read the findings"
                        : page.alarm().isPresent()
                                ? "explain or accept the findings"
                                : "check that a broker runs";
        String clause =
                page.isWrong()
                        ? "the audit log is not intact"
                        : page.alarm().isPresent()
                                ? "the last verification of the audit log has findings"
                                : "the audit log is not sealed in time";
        return new Need(
                Kind.LOG,
                page.verdict(now),
                "audit log",
                "/proof",
                "",
                Optional.empty(),
                page.verified().filter(_ -> page.alarm().isPresent()),
                action,
                clause);
    }

    private static List<Need> requests(Attention.OpenRequests requests) {
        List<Need> needs = new ArrayList<>();
        requests.breakGlasses()
                .request()
                .map(first ->
                        request(
                                Kind.BREAK_GLASS,
                                requests.breakGlasses(),
                                first,
                                "sign it off, or end the access",
                                bounded(
                                        requests.breakGlasses().count(),
                                        "break-glass request waits for a sign-off",
                                        "break-glass requests wait for a sign-off")))
                .ifPresent(needs::add);
        requests.waiting()
                .request()
                .map(first ->
                        request(
                                Kind.REQUEST,
                                requests.waiting(),
                                first,
                                "approve or refuse",
                                bounded(
                                        requests.waiting().count(),
                                        "request waits for your decision",
                                        "requests wait for your decision")))
                .ifPresent(needs::add);
        return needs;
    }

    private static Need request(
            Kind kind,
            Attention.OpenRequests.Oldest requests,
            Attention.OpenRequests.Oldest.Request first,
            String action,
            String clause) {
        return new Need(
                kind,
                requests.count().words(),
                kind == Kind.REQUEST
                        ? requests.count().number() == 1 ? "request for you" : "requests for you"
                        : requests.count().number() == 1
                                ? "use of break glass without sign-off"
                                : "uses of break glass without sign-off",
                kind == Kind.REQUEST ? "/requests" : "/requests?show=break-glass",
                "%s for %s of %s".formatted(first.subject(), first.key(), first.tenant()),
                Optional.of(Links.request(first.id())),
                Optional.of(first.at()),
                action,
                clause);
    }

    private static List<Need> credentials(OverviewPage page, Instant now) {
        List<Need> needs = new ArrayList<>();
        List<MintLine> unresolved = page.unresolved();
        if (!unresolved.isEmpty()) {
            boolean more = unresolved.size() >= OverviewPage.COUNTED;
            long number = more ? unresolved.size() - 1 : unresolved.size();
            needs.add(
                    new Need(
                            Kind.UNRESOLVED,
                            (more ? "over " : "") + Frame.number(number),
                            "unresolved",
                            "/mints?outcome=unresolved",
                            "%s may still have a credential"
                                    .formatted(Frame.number(page.dangerous(now))),
                            Optional.empty(),
                            page.unresolvedSince(),
                            "look for the credential at its provider",
                            (more ? "over " : "")
                                    + counted(
                                            number,
                                            "mint has no outcome",
                                            "mints have no outcome")));
        }
        Attention.Unrevoked unrevoked = page.attention().unrevoked();
        if (unrevoked.count().number() > 0) {
            Attention.Unrevoked.Line first = unrevoked.lines().getFirst();
            needs.add(
                    new Need(
                            Kind.UNREVOKED,
                            unrevoked.count().words(),
                            "not yet revoked",
                            "#unrevoked",
                            first.tenant() + first.key().map(key -> " / " + key).orElse(""),
                            Optional.of(Links.mint(first.mint())),
                            unrevoked.since(),
                            unrevoked.tried() > 0
                                    ? "read why the provider refuses"
                                    : "wait for the broker, or revoke at the provider",
                            bounded(
                                    unrevoked.count(),
                                    "credential is not yet revoked",
                                    "credentials are not yet revoked")));
        }
        return needs;
    }

    private static List<Need> configuration(Attention attention) {
        List<Need> needs = new ArrayList<>();
        List<Ending> endings = attention.endings();
        if (!endings.isEmpty()) {
            boolean more = endings.size() >= Ending.MOST;
            long number = more ? endings.size() - 1 : endings.size();
            Ending first = endings.getFirst();
            needs.add(
                    new Need(
                            Kind.ENDING,
                            (more ? "over " : "") + Frame.number(number),
                            number == 1 ? "ends soon" : "end soon",
                            "#ends",
                            first.what() + first.tenant().map(tenant -> " of " + tenant).orElse(""),
                            Optional.of(first.address()),
                            Optional.of(first.at()),
                            "extend it, or let it end",
                            (more ? "over " : "")
                                    + counted(
                                            number,
                                            Ending.noun(endings) + " ends soon",
                                            Ending.nouns(endings) + " end soon")));
        }
        Attention.Reviews reviews = attention.reviews();
        if (reviews.count().number() > 0) {
            needs.add(
                    new Need(
                            Kind.REVIEW,
                            reviews.count().words(),
                            reviews.count().number() == 1 ? "review due" : "reviews due",
                            "/reviews",
                            reviews.first().map(Attention.Reviews.First::words).orElse(""),
                            reviews.first().map(Attention.Reviews.First::address),
                            reviews.first().map(Attention.Reviews.First::due),
                            "keep or end each grant",
                            bounded(
                                    reviews.count(),
                                    "grant is due for review",
                                    "grants are due for review")));
        }
        if (attention.lint().count().number() > 0) {
            needs.add(lint(attention.lint()));
        }
        return needs;
    }

    private static Need lint(Attention.Lint lint) {
        return new Need(
                Kind.LINT,
                lint.count().words(),
                lint.count().number() == 1 ? "lint warning" : "lint warnings",
                "#lint",
                lint.where(),
                Optional.empty(),
                Optional.empty(),
                "correct the rows",
                bounded(lint.count(), "lint warning is open", "lint warnings are open"));
    }

    private static String bounded(Attention.Count count, String one, String several) {
        return count.all()
                ? counted(count.number(), one, several)
                : "over %s %s".formatted(Frame.number(count.number()), several);
    }

    private static String counted(long number, String one, String several) {
        String words = number < NUMBERS.size() ? NUMBERS.get((int) number) : Frame.number(number);
        return words + " " + (number == 1 ? one : several);
    }

    boolean lacks(Kind kind) {
        return all.stream().noneMatch(need -> need.kind() == kind);
    }

    /** Whether everything is all right. */
    String sentence(Frame frame) {
        String log =
                verified.filter(_ -> lacks(Kind.LOG))
                        .map(at -> "; the log was verified %s".formatted(frame.at(at).distance()))
                        .orElse("");
        if (all.isEmpty()) {
            return "Nothing needs your attention%s.".formatted(log);
        }
        String first =
                all.stream()
                        .limit(IN_SENTENCE)
                        .map(Need::clause)
                        .collect(Collectors.joining(", and "));
        int others = all.size() - Math.min(all.size(), IN_SENTENCE);
        String rest =
                others == 0
                        ? "everything else is in order"
                        : counted(
                                others, "more item is listed below", "more items are listed below");
        return "%s. %s%s.".formatted(begun(first), begun(rest), log);
    }

    private static String begun(String sentence) {
        return sentence.substring(0, 1).toUpperCase(Locale.ENGLISH) + sentence.substring(1);
    }
}
