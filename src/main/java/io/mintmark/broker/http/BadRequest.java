package io.mintmark.broker.http;

/** A request that can't be read any further, with the answer to it. */
final class BadRequest extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient ErrorBody answer;

    BadRequest(ErrorBody answer) {
        super(answer.message());
        this.answer = answer;
    }

    ErrorBody answer() {
        return answer;
    }
}
