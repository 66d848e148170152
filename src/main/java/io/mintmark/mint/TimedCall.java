package io.mintmark.mint;

import io.mintmark.identity.NoBrokerTokenException;
import io.mintmark.mint.MintResult.Failed;
import io.mintmark.verdict.MintRefusal.Reason;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Calls a provider on a thread of its own, so that a provider that forgets its deadline costs a
 * thread and not the request.
 */
final class TimedCall {
    private final InstantSource clock;

    TimedCall(InstantSource clock) {
        this.clock = clock;
    }

    MintResult mint(MintOrder order, Callable<MintResult> call) {
        Duration left = Duration.between(clock.instant(), order.deadline());
        if (!left.isPositive()) {
            return new Failed(
                    Reason.PROVIDER_TIMEOUT, "the deadline had passed before anything was sent");
        }
        var task = new FutureTask<>(call);
        Thread.ofVirtual().name("mint-" + order.mintId()).start(task);
        try {
            return task.get(left.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return new Failed(
                    Reason.PROVIDER_TIMEOUT,
                    "no answer by the deadline; if one comes, its credential is dropped");
        } catch (ExecutionException e) {
            return failed(Objects.requireNonNullElse(e.getCause(), e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Failed(
                    Reason.PROVIDER_TIMEOUT,
                    "the broker was stopped before an answer came; there may be a credential");
        } finally {
            task.cancel(true);
        }
    }

    private static Failed failed(Throwable fault) {
        return switch (fault) {
            case UnusableSettingsException e ->
                    new Failed(Reason.PROVIDER_MISCONFIGURED, e.getMessage());
            case NoBrokerTokenException e -> new Failed(meaning(e.kind()), e.getMessage());
            default ->
                    new Failed(Reason.PROVIDER_ERROR, "a fault of the broker's: " + place(fault));
        };
    }

    /** An identity provider of the broker's is told apart from the provider by the detail alone. */
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

    /** Where it happened. Not the message, which could quote a secret. */
    private static String place(Throwable fault) {
        return Arrays.stream(fault.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith("io.mintmark."))
                .findFirst()
                .map(frame -> "%s at %s".formatted(fault.getClass().getName(), frame))
                .orElse(fault.getClass().getName());
    }
}
