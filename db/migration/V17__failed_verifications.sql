-- Every page of the console asks whether a verification failed, among up to 400 days of results.

CREATE INDEX verifications_that_failed ON log.verification (login, id) WHERE verdict = 'wrong';
