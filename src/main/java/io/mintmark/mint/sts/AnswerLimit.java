package io.mintmark.mint.sts;

import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** Ends an answer that is longer than any STS gives, before the SDK has put it into memory. */
final class AnswerLimit implements ExecutionInterceptor {
    private static final int MOST_BYTES = 256 * 1024;

    @Override
    public Optional<InputStream> modifyHttpResponseContent(
            Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
        return context.responseBody().map(Limited::new);
    }

    private static final class Limited extends FilterInputStream {
        private int left = MOST_BYTES;

        Limited(InputStream answer) {
            super(answer);
        }

        @Override
        public int read() throws IOException {
            int read = super.read();
            count(read < 0 ? 0 : 1);
            return read;
        }

        @Override
        public int read(byte[] buffer, int offset, int length) throws IOException {
            int read = super.read(buffer, offset, length);
            count(Math.max(read, 0));
            return read;
        }

        @Override
        public boolean markSupported() {
            return false;
        }

        private void count(int read) throws IOException {
            left -= read;
            if (left < 0) {
                throw new IOException("the answer is longer than %d bytes".formatted(MOST_BYTES));
            }
        }
    }
}
