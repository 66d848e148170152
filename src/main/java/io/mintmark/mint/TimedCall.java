package io.mintmark.mint;

import io.mintmark.identity.NoBrokerTokenException;
import io.mintmark.mint.MintResult.Failed;
import io.mintmark.time.Timeout;
import io.mintmark.verdict.MintRefusal.Reason;

import org.slf4j.MDC;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * A provider call in flight, on a thread of its own, so that a provider that ignores its deadline
 * costs a thread and not the request.
 */
public final class TimedCall {
    private final InstantSource clock;
    private final Instant deadline;
    private final long began = System.nanoTime();
    private final FutureTask<Answer> task;

    /**
     * What came of a call.
     *
     * @param at when it came
     * @param taken how long it took
     */
    public record Answer(MintResult result, Instant at, Duration taken) {}

    private TimedCall(InstantSource clock, Instant deadline, Callable<MintResult> call) {
        this.clock = clock;
        this.deadline = deadline;
        this.task = new FutureTask<>(() -> answer(call.call()));
    }

    /** Begins a call; after the order's deadline there is none. */
    static TimedCall begin(InstantSource clock, MintOrder order, Callable<MintResult> call) {
        if (!clock.instant().isBefore(order.deadline())) {
            return over(clock, order);
        }
        var timed = new TimedCall(clock, order.deadline(), call);
        Map<String, String> context = MDC.getCopyOfContextMap();
        Thread.ofVirtual()
                .name("mint-" + order.mintId())
                .start(() -> {
                    MDC.setContextMap(context == null ? Map.of() : context);
                    timed.task.run();
                });
        return timed;
    }

    private static TimedCall over(InstantSource clock, MintOrder order) {
        Failed late = timedOut("the deadline had passed before anything was sent");
        var timed = new TimedCall(clock, order.deadline(), () -> late);
        timed.task.run();
        return timed;
    }

    /** The result, by the deadline at the latest. Never throws. */
    public Answer await() {
        Duration left = Duration.between(clock.instant(), deadline);
        try (Timeout _ = Timeout.after(left, () -> task.cancel(true))) {
            return task.get();
        } catch (CancellationException e) {
            return answer(
                    timedOut("no answer by the deadline; if one comes, its credential is dropped"));
        } catch (ExecutionException e) {
            return answer(resultOf(Objects.requireNonNullElse(e.getCause(), e)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return answer(
                    timedOut(
                            "the broker was stopped before an answer came; a credential might exist"));
        } finally {
            task.cancel(true);
        }
    }

    private Answer answer(MintResult result) {
        return new Answer(result, clock.instant(), Duration.ofNanos(System.nanoTime() - began));
    }

    private static Failed timedOut(String detail) {
        return new Failed(Reason.PROVIDER_TIMEOUT, detail);
    }

    private static MintResult resultOf(Throwable fault) {
        return fault instanceof OutdatedDecision outdated ? outdated.result() : failed(fault);
    }

    /** The failure of a call that threw an exception. */
    public static Failed failed(Throwable fault) {
        return switch (fault) {
            case UnusableSettingsException e ->
                    new Failed(Reason.PROVIDER_MISCONFIGURED, e.getMessage());
            case NoBrokerTokenException e -> new Failed(meaning(e.kind()), e.getMessage());
            default -> new Failed(Reason.PROVIDER_ERROR, "an error in the broker: " + place(fault));
        };
    }

    /**
     * Only the detail distinguishes failures of the broker's identity provider from those of the
     * provider.
     */
    private static Reason meaning(NoBrokerTokenException.Kind kind) {
        return switch (kind) {
            case MISCONFIGURED -> Reason.PROVIDER_MISCONFIGURED;
            case REJECTED -> Reason.BROKER_IDENTITY_REJECTED;
            case UNREACHABLE -> Reason.PROVIDER_UNREACHABLE;
            case TIMED_OUT -> Reason.PROVIDER_TIMEOUT;
            case THROTTLED -> Reason.PROVIDER_THROTTLED;
            case FAILED -> Reason.PROVIDER_ERROR;
        };
    }

    /** The location of a failure, without its message, which could quote a secret. */
    private static String place(Throwable fault) {
        return Arrays.stream(fault.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith("io.mintmark."))
                .findFirst()
                .map(frame -> "%s at %s".formatted(fault.getClass().getName(), frame))
                .orElse(fault.getClass().getName());
    }
}
