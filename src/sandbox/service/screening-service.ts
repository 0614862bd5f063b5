import { randomBytes, randomInt } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { type Clock } from '../../kernel/clock.ts';
import { Fault, nameOf } from '../../kernel/fault.ts';
import { ActivityLog } from './activity.ts';
import { ServiceApi } from './api.ts';
import { seededDraw } from './chance.ts';
import { Control } from './control.ts';
import { FaultPlan, type Faults, type FaultSettings, readFaults } from './faults.ts';
import { createHandler } from './http.ts';
import { Ledger } from './ledger.ts';
import { createPostWebhook } from './post-webhook.ts';
import { Reviews } from './reviews.ts';
import { Sessions } from './sessions.ts';
import { WebhookSender } from './webhooks.ts';

export interface ScreeningServiceOptions {
  /** Default 127.0.0.1: there is no protection on the control, so think before you open it. */
  readonly host?: string;
  /** Default 0: any free one. */
  readonly port?: number;
  /** Default `sandbox`. */
  readonly user?: string;
  /** Default: 64 lowercase letters and digits, made up. */
  readonly password?: string;
  /** Default null: reviews are decided, and nothing is sent. */
  readonly webhookUrl?: string | null;
  /** Default: made up. */
  readonly webhookSecret?: string;
  /** Retries of webhooks come this many times sooner; default 1. */
  readonly speed?: number;
  /** Default 24 h. */
  readonly tokenLifetimeMs?: number;
  /** A login ends the older token; default false. */
  readonly oneTokenPerUser?: boolean;
  /** Decides faults and reviews; default: made up. */
  readonly seed?: number;
  /** Share of transactions reviewed although their decision is not manual review, 0 to 1; default 0. */
  readonly reviewShare?: number;
  /** From scoring to the decision of a review; default 2000. */
  readonly reviewAfterMs?: number;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** The screening service, running. */
export interface ScreeningService {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly user: string;
  readonly password: string;
  readonly webhookSecret: string;
  /** An absolute http or https URL, or null; throws `USAGE` for anything else. */
  setWebhookUrl(url: string | null): void;
  readonly faults: {
    get(): Faults;
    /** Replaces all faults; throws `USAGE` when a field is wrong. */
    set(settings: FaultSettings): void;
  };
  /** The living ledger, not a copy. */
  ledger(): Ledger;
  activity(): ActivityLog;
  /** Decides a review now; false: that transaction was never scored. */
  review(transId: string, decision?: string): boolean;
  /** How many reviews are waiting to be decided. */
  pendingReviews(): number;
  /** Forgets ledger, activity, faults, pending reviews and retries. Sessions and the webhook URL stay. */
  reset(): void;
  /** Ends connections, reviews and retries. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;

const machineClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, task) => {
    const timer = setTimeout(task, delayMs);
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Starts the screening service of the spec, its control included. Throws `PORT_TAKEN` or `USAGE`. */
export async function startScreeningService(options: ScreeningServiceOptions = {}): Promise<ScreeningService> {
  const { host = '127.0.0.1', port = 0, user = 'sandbox' } = options;
  const { password = madeUpPassword(), webhookSecret = randomBytes(24).toString('hex') } = options;
  const parts = build({ ...options, user, password, webhookSecret });
  const { setWebhookUrl, faults, ledger, activity, reviews, reset } = parts;
  setWebhookUrl(options.webhookUrl ?? null);
  // Longer than a client keeps an idle connection, so that it is never the server that ends one under a request.
  const server = createServer({ keepAliveTimeout: 75_000 }, parts.handler);
  const baseUrl = await listen(server, host, port);
  return {
    baseUrl,
    user,
    password,
    webhookSecret,
    setWebhookUrl,
    faults,
    ledger: () => ledger,
    activity: () => activity,
    review: (transId, decision) => reviews.decide(transId, decision),
    pendingReviews: () => reviews.pending,
    reset,
    close: async () => {
      parts.stop();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
  };
}

type Credentials = Required<Pick<ScreeningServiceOptions, 'user' | 'password' | 'webhookSecret'>>;

interface Parts extends Pick<ScreeningService, 'setWebhookUrl' | 'faults' | 'reset'> {
  readonly ledger: Ledger;
  readonly activity: ActivityLog;
  readonly reviews: Reviews;
  readonly handler: RequestListener;
  readonly stop: () => void;
}

/** All of the service but the port it listens on. */
function build(options: ScreeningServiceOptions & Credentials): Parts {
  const { user, password, webhookSecret: secret, clock = machineClock, speed = 1 } = options;
  const { tokenLifetimeMs: lifetimeMs = DAY_MS, oneTokenPerUser: onePerUser = false } = options;
  const { reviewAfterMs: afterMs = 2_000, reviewShare: share = 0, seed = randomInt(2 ** 31) } = options;
  if (user.includes(':')) throw new Fault('USAGE', 'the user must not hold a colon');
  if (!(speed > 0)) throw new Fault('USAGE', 'the speed must be above 0');
  const sessions = new Sessions({ user, password, lifetimeMs, onePerUser, clock });
  const plan = new FaultPlan(seededDraw(seed));
  const ledger = new Ledger(`frg-${clock.nowMs().toString(36)}-`);
  const activity = new ActivityLog();
  const { post, close: closePosts } = createPostWebhook();
  const sender = new WebhookSender({ secret, speed, clock, post, ledger, activity });
  const reviews = new Reviews({ clock, afterMs, share, seed, ledger, sender });
  const faults = faultsOf(plan, sessions);
  const reset = (): void => {
    plan.set({});
    reviews.reset();
    sender.reset();
    ledger.reset();
    activity.clear();
  };
  const setWebhookUrl = (url: string | null): void => {
    const isUrl = url === null || (/^https?:\/\//u.test(url) && URL.canParse(url));
    if (!isUrl) throw new Fault('USAGE', 'the webhook URL must be absolute, http or https');
    sender.setUrl(url);
  };
  const api = new ServiceApi({ clock, sessions, faults: plan, ledger, reviews });
  const control = new Control({ faults, ledger, reviews, activity, reset });
  const stop = (): void => {
    reviews.reset();
    sender.reset();
    closePosts();
  };
  const handler = createHandler({ api, control, faults: plan, ledger, clock });
  return { setWebhookUrl, faults, ledger, activity, reviews, reset, handler, stop };
}

function faultsOf(plan: FaultPlan, sessions: Sessions): ScreeningService['faults'] {
  return {
    get: () => plan.get(),
    set: (settings) => {
      const checked = readFaults(settings);
      if (typeof checked === 'string') throw new Fault('USAGE', checked);
      plan.set(checked);
      if (checked.expireTokens === true) sessions.expireAll();
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(new Fault('PORT_TAKEN', `the sandbox cannot listen on ${host}:${port}: ${nameOf(error)}`));
    });
    server.listen(port, host, resolve);
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`;
}

/** 64 lowercase letters and digits, as the service's own passwords are (spec: Authentication). */
function madeUpPassword(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length: 64 }, () => letters.charAt(randomInt(letters.length))).join('');
}
