package io.mintmark.provider;

import io.mintmark.base.pkcs11.TokenUnavailable;
import io.mintmark.base.time.Timeout;
import io.mintmark.base.verdict.MintRefusal.Reason;
import io.mintmark.provider.MintResult.Failed;
import io.mintmark.provider.MintResult.NotCalled;
import io.mintmark.provider.MintResult.NotCalled.Why;
import io.mintmark.provider.identity.NoBrokerTokenException;

import org.slf4j.MDC;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A provider call in flight, on a thread of its own, so that a provider that ignores its deadline
 * costs a thread and not the request.
 */
public final class TimedCall {
    private final InstantSource clock;
    private final Instant deadline;
    private final boolean callsProvider;
    private final Consumer<MintResult> late;
    private final long began = System.nanoTime();
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();
    private final Thread thread;

    /**
     * The result of a call.
     *
     * @param at when it came
     * @param taken how long it took
     */
    public record Answer(MintResult result, Instant at, Duration taken) {}

    private TimedCall(
            InstantSource clock,
            MintOrder order,
            PreparedKey key,
            Supplier<MintResult> call,
            Consumer<MintResult> late) {
        this.clock = clock;
        this.deadline = order.deadline();
        this.callsProvider = key.callsProvider();
        this.late = late;
        Map<String, String> context = MDC.getCopyOfContextMap();
        this.thread =
                Thread.ofVirtual()
                        .name("mint-" + order.mintId())
                        .unstarted(() -> {
                            MDC.setContextMap(context == null ? Map.of() : context);
                            run(call);
                        });
    }

    /**
     * Begins a call; after the order's deadline there is none.
     *
     * @param late takes the result of a call that ends after {@link #await} gave it up
     */
    static TimedCall begin(
            InstantSource clock,
            MintOrder order,
            PreparedKey key,
            Supplier<MintResult> call,
            Consumer<MintResult> late) {
        var timed = new TimedCall(clock, order, key, call, late);
        if (clock.instant().isBefore(order.deadline())) {
            timed.thread.start();
        } else {
            timed.giveUp("the deadline passed before the broker sent the request");
        }
        return timed;
    }

    private void run(Supplier<MintResult> call) {
        MintResult result;
        try {
            result = call.get();
        } catch (RuntimeException | Error e) {
            result = resultOf(e);
        }
        if (!answer.complete(answer(result))) {
            late.accept(result);
        }
    }

    /** The result, by the deadline at the latest. Never throws. */
    public Answer await() {
        Duration left = Duration.between(clock.instant(), deadline);
        try (Timeout _ = Timeout.after(left, () -> giveUp("no response before the deadline"))) {
            return answer.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            giveUp("the broker was stopped before the response came; a credential might exist");
            return answer.join();
        } catch (ExecutionException e) {
            throw new IllegalStateException("a provider call threw an unexpected exception", e);
        }
    }

    /** Ends the wait. The call still ends, and has its result taken, whatever it makes of this. */
    private void giveUp(String detail) {
        if (answer.complete(answer(timedOut(detail)))) {
            thread.interrupt();
        }
    }

    private Answer answer(MintResult result) {
        return new Answer(result, clock.instant(), Duration.ofNanos(System.nanoTime() - began));
    }

    /**
     * The result of a call that timed out. If no provider was called, this replica lost the time.
     */
    private MintResult timedOut(String detail) {
        return callsProvider
                ? new Failed(Reason.PROVIDER_TIMEOUT, detail)
                : new NotCalled(
                        Why.REPLICA_LATE,
                        "no provider was called, because this replica was too slow: " + detail);
    }

    private static MintResult resultOf(Throwable fault) {
        return fault instanceof OutdatedDecision outdated ? outdated.result() : failed(fault);
    }

    /** The failure of a call that threw an exception. */
    public static Failed failed(Throwable fault) {
        return switch (fault) {
            case UnusableSettingsException e ->
                    new Failed(Reason.PROVIDER_MISCONFIGURED, e.getMessage());
            case TokenUnavailable e -> new Failed(Reason.PROVIDER_UNREACHABLE, e.getMessage());
            case NoBrokerTokenException e -> new Failed(meaning(e.kind()), e.getMessage());
            default ->
                    new Failed(
                            Reason.PROVIDER_ERROR,
                            "the broker failed with an error: " + place(fault));
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
