/**
 * Credentials of a Mintmark broker for programs in Node.js 20 or newer, without dependencies.
 *
 *     const deploy = new Client().source("deploy");
 *     (await deploy.credentials()).AWS_ACCESS_KEY_ID;   // the same until it is renewed
 *
 * A source renews its credential when a random part between 60 and 75 % of its life has passed. The
 * life is what the broker says, counted from when the credential came: the clock of the machine
 * doesn't matter.
 */

import { readFile } from "node:fs/promises";
import { env } from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** Longer than the minute in which the broker counts the requests of an address. */
const TIMEOUT = 90_000;
const REQUEST_TIMEOUT = 30_000;
const RENEWED_AFTER = [0.6, 0.75] as const;
/** However short a credential's life seems to be. Doubles with each that is shorter, up to the second. */
const SHORTEST_LIFE = 30_000;
const LONGEST_FLOOR = 900_000;
const FIRST_WAIT = 500;
const LONGEST_WAIT = 8_000;
const LONGEST_PAUSE = 60_000;
const POLL = 2_000;
const LOCAL = ["localhost", "127.0.0.1", "[::1]"];
/** Codes of connections that failed before a request could be sent. */
const NOT_SENT = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"];

/** Returns a token for each request. */
export type TokenSource = () => Promise<string> | string;
export type Members = Readonly<Record<string, string>>;

export interface Options {
  /** MINTMARK_URL by default. */
  url?: string;
  /** By default MINTMARK_TOKEN, or the file in MINTMARK_TOKEN_FILE, which is read for each request. */
  token?: TokenSource;
  /** By default the file in MINTMARK_ACTOR_TOKEN_FILE, if any. */
  actorToken?: TokenSource;
  /** For a request with its repetitions, in milliseconds. */
  timeout?: number;
}

export interface Answer {
  credentials: Record<string, Members>;
  issuedAt: string;
  expiresAt: string;
  subject: string;
}

export interface AccessRequest {
  id: string;
  key: string;
  status: "pending" | "granted" | "refused" | "lapsed" | "withdrawn" | "void";
}

/** The broker's answer to a request that failed, without any token. */
export class Refused extends Error {
  readonly code: string;
  readonly requestId: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfter: number | undefined;

  constructor(
    readonly status: number,
    body: Record<string, unknown>,
  ) {
    super(`${body.message ?? "no message"} (HTTP ${status} ${body.error ?? ""}, request ${body.requestId ?? ""})`);
    this.name = "Refused";
    this.code = String(body.error ?? "");
    this.requestId = String(body.requestId ?? "");
    this.details = (body.details as Record<string, unknown>) ?? {};
    this.retryAfter = typeof body.retryAfter === "number" ? body.retryAfter : undefined;
  }

  /** Whether the same request may succeed later. */
  get later(): boolean {
    return [429, 502, 503, 504].includes(this.status);
  }
}

/** No answer. If it was sent, the broker may have issued a credential; its audit log shows it. */
export class Unreachable extends Error {
  constructor(
    message: string,
    readonly sent: boolean,
    cause: unknown,
  ) {
    super(message + (sent ? "; the request was sent and is not repeated" : ""), { cause });
    this.name = "Unreachable";
  }
}

/** A token that is read again for each request, because others renew the file. */
export function fileToken(path: string): TokenSource {
  return async () => (await readFile(path, "utf8")).trim();
}

function environmentToken(name: string): TokenSource | undefined {
  const token = env[name];
  const file = env[`${name}_FILE`];
  return token ? () => token : file ? fileToken(file) : undefined;
}

export class Client {
  readonly #url: string;
  readonly #token: TokenSource;
  readonly #actorToken: TokenSource | undefined;
  readonly #timeout: number;

  constructor(options: Options = {}) {
    const url = new URL(options.url ?? env.MINTMARK_URL ?? "");
    if (url.protocol !== "https:" && !(url.protocol === "http:" && LOCAL.includes(url.hostname))) {
      throw new TypeError("the broker's URL must be https; plain http is for this machine only");
    }
    const token = options.token ?? environmentToken("MINTMARK_TOKEN");
    if (token === undefined) {
      throw new TypeError("no identity token: pass token, or set MINTMARK_TOKEN_FILE");
    }
    this.#url = url.href.replace(/\/+$/, "");
    this.#token = token;
    this.#actorToken = options.actorToken ?? environmentToken("MINTMARK_ACTOR_TOKEN");
    this.#timeout = options.timeout ?? TIMEOUT;
  }

  /** Credentials of one key, renewed in time. */
  source(key: string): Source {
    return new Source(this, key);
  }

  /** Mints once. With repeat false, the first failure is thrown. */
  async mint(keys: string[], repeat = true): Promise<Answer> {
    return (await this.#call("POST", "/credentials/mint", { keys }, repeat ? "unless sent" : "never")) as Answer;
  }

  async keys(): Promise<{ name: string; provider: string; description: string; maxDuration: number }[]> {
    return (await this.#call("GET", "/credentials/keys")).keys;
  }

  /** Asks for access that somebody else approves. */
  async request(keys: string[], reason: string, seconds: number): Promise<AccessRequest[]> {
    return (await this.#call("POST", "/access-requests", { keys, reason, seconds })).requests;
  }

  /** Waits until a request is decided: the request as it is then. */
  async wait(id: string, timeout = 86_400_000): Promise<AccessRequest> {
    const end = performance.now() + timeout;
    for (;;) {
      const request: AccessRequest = await this.#call("GET", `/access-requests/${encodeURIComponent(id)}`);
      if (request.status !== "pending" || performance.now() + POLL > end) {
        return request;
      }
      await sleep(POLL);
    }
  }

  /** Sends a request, and repeats it while that may help and nothing can be issued twice. */
  async #call(method: string, path: string, body?: unknown, repeat = "always"): Promise<any> {
    const end = performance.now() + this.#timeout;
    for (let wait = FIRST_WAIT; ; wait = Math.min(wait * 2, LONGEST_WAIT)) {
      try {
        return await this.#send(method, path, body);
      } catch (failure) {
        // 502 and 504 are of a gateway, which doesn't know whether the broker issued a credential
        const unsafe =
          failure instanceof Refused
            ? !failure.later || (repeat !== "always" && [502, 504].includes(failure.status))
            : !(failure instanceof Unreachable) || (repeat !== "always" && failure.sent);
        const asked = failure instanceof Refused ? (failure.retryAfter ?? 0) * 1000 : 0;
        const pause = asked + Math.random() * wait;
        if (unsafe || repeat === "never" || performance.now() + pause > end) {
          throw failure;
        }
        await sleep(pause);
      }
    }
  }

  async #send(method: string, path: string, body: unknown): Promise<any> {
    const headers: Record<string, string> = { Authorization: `Bearer ${await this.#token()}` };
    if (this.#actorToken) {
      headers["Mintmark-Actor-Token"] = await this.#actorToken();
    }
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
    }
    let response: Response;
    let text: string;
    try {
      response = await fetch(this.#url + path, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
        redirect: "error",
        signal: AbortSignal.timeout(REQUEST_TIMEOUT),
      });
      text = await response.text();
    } catch (failure) {
      const code = String((failure as { cause?: { code?: string } }).cause?.code ?? (failure as Error).name);
      throw new Unreachable(`cannot reach the broker: ${code}`, !NOT_SENT.includes(code), failure);
    }
    let answer: any;
    try {
      answer = JSON.parse(text);
    } catch {
      answer = undefined;
    }
    if ([200, 202].includes(response.status) && typeof answer === "object" && answer !== null) {
      return answer;
    }
    const refusal = answer ?? { message: "the response is not that of a Mintmark broker; check the URL" };
    const asked = response.headers.get("retry-after");
    throw new Refused(response.status, {
      ...(asked !== null && /^\d{1,6}$/.test(asked) ? { retryAfter: Number(asked) } : {}),
      ...refusal,
    });
  }
}

/** The credential of one key: one mint at a time, and all callers wait for it. */
export class Source {
  #current: Members | undefined;
  #renewAt = 0;
  #end = 0;
  #pause = 1000;
  #floor = SHORTEST_LIFE;
  #flight: Promise<Members> | undefined;

  constructor(
    readonly client: Client,
    readonly key: string,
    readonly now: () => number = () => performance.now(),
  ) {}

  /** The members of the credential. If a renewal fails, the one before it serves until its end. */
  credentials(): Promise<Members> {
    if (this.#current !== undefined && this.now() < Math.min(this.#renewAt, this.#end)) {
      return Promise.resolve(this.#current);
    }
    this.#flight ??= this.#renew().finally(() => (this.#flight = undefined));
    return this.#flight;
  }

  /** A credential that seems to be over when it comes must not be minted again at each call. */
  #plausible(life: number): number {
    const floor = this.#floor;
    this.#floor = life >= SHORTEST_LIFE ? SHORTEST_LIFE : Math.min(floor * 2, LONGEST_FLOOR);
    return life >= SHORTEST_LIFE ? life : floor;
  }

  async #renew(): Promise<Members> {
    try {
      // once there is a credential, callers don't wait for retries
      const answer = await this.client.mint([this.key], this.#current === undefined || this.now() >= this.#end);
      const came = this.now();
      const life = this.#plausible(Date.parse(answer.expiresAt) - Date.parse(answer.issuedAt));
      const [least, most] = RENEWED_AFTER;
      this.#renewAt = came + life * (least + Math.random() * (most - least));
      this.#end = came + life;
      this.#pause = 1000;
      return (this.#current = answer.credentials[this.key]!);
    } catch (failure) {
      if (this.#current === undefined || this.now() >= this.#end) {
        throw failure;
      }
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
      const asked = failure instanceof Refused ? (failure.retryAfter ?? 0) * 1000 : 0;
      this.#renewAt = this.now() + asked + Math.random() * this.#pause;
      return this.#current;
    }
  }
}
