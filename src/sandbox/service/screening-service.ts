import { randomBytes, randomInt } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { performance } from 'node:perf_hooks';
import { type Clock } from '../../kernel/clock.ts';
import { Fault } from '../../kernel/fault.ts';
import { ActivityLog } from './activity.ts';
import { ServiceApi } from './api.ts';
import { seededDraw } from './chance.ts';
import { Control, type WebhookEndpoint } from './control.ts';
import { FaultPlan } from './fault-plan.ts';
import { type Faults, type FaultSettings, readFaults } from './faults.ts';
import { createHandler } from './http.ts';
import { Ledger } from './ledger.ts';
import { Listener } from './listener.ts';
import { LoadGate } from './load-gate.ts';
import { createPostWebhook } from './post-webhook.ts';
import { type ReviewOptions, Reviews } from './reviews.ts';
import { type SessionOptions, Sessions } from './sessions.ts';
import { DEFAULT_SETTINGS, readSettings, SETTING_NAMES, type Settings, SettingsStore } from './settings.ts';
import { type WebhookFaults } from './webhook-faults.ts';
import { WebhookSender } from './webhooks.ts';

/** All settings are options, too; their defaults are those of docs/sandbox.md. */
export interface ScreeningServiceOptions extends Partial<Settings> {
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
  /** Decides faults and reviews; default: made up. */
  readonly seed?: number;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** The screening service, running. */
export interface ScreeningService {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly user: string;
  readonly password: string;
  /** The one it started with. */
  readonly webhookSecret: string;
  /** An absolute http or https URL, or null; throws `USAGE` for anything else. */
  setWebhookUrl(url: string | null): void;
  /** What webhooks are signed with from now on: a rotation; throws `USAGE` when it is empty. */
  setWebhookSecret(secret: string): void;
  readonly settings: {
    get(): Settings;
    /** Changes what is given; throws `USAGE` when a field is wrong. */
    set(settings: Partial<Settings>): void;
  };
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
  /** Forgets ledger, activity, faults, pending reviews and retries. Sessions, settings, the webhook's URL and secret stay. */
  reset(): void;
  /** Ends connections, reviews and retries. */
  close(): Promise<void>;
}

const machineClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, task) => {
    const timer = setTimeout(task, delayMs);
    return () => {
      clearTimeout(timer);
    };
  },
  soon: (task) => {
    setImmediate(task);
  },
};

/** Starts the screening service of the spec, its control included. Throws `PORT_TAKEN` or `USAGE`. */
export async function startScreeningService(options: ScreeningServiceOptions = {}): Promise<ScreeningService> {
  const { host = '127.0.0.1', port = 0, user = 'sandbox', clock = machineClock } = options;
  const { password = madeUpPassword(), webhookSecret = randomBytes(24).toString('hex') } = options;
  // Longer than a client keeps an idle connection, so that it is never the server that ends one under a request.
  const server = createServer({ keepAliveTimeout: 75_000 });
  const listener = new Listener({ server, host, port, clock });
  const parts = build({ ...options, user, password, webhookSecret, clock }, listener);
  const { webhook, faults, settings, ledger, activity, reviews, reset } = parts;
  webhook.setUrl(options.webhookUrl ?? null);
  server.on('request', parts.handler);
  const baseUrl = await listener.open();
  return {
    baseUrl,
    user,
    password,
    webhookSecret,
    setWebhookUrl: (url) => {
      webhook.setUrl(url);
    },
    setWebhookSecret: (secret) => {
      webhook.setSecret(secret);
    },
    settings,
    faults,
    ledger: () => ledger,
    activity: () => activity,
    review: (transId, decision) => reviews.decide(transId, decision),
    pendingReviews: () => reviews.pending,
    reset,
    close: async () => {
      parts.stop();
      await listener.close();
    },
  };
}

type Given = ScreeningServiceOptions &
  Required<Pick<ScreeningServiceOptions, 'user' | 'password' | 'webhookSecret' | 'clock'>>;

interface Parts extends Pick<ScreeningService, 'settings' | 'faults' | 'reset'> {
  readonly webhook: WebhookEndpoint;
  readonly ledger: Ledger;
  readonly activity: ActivityLog;
  readonly reviews: Reviews;
  readonly handler: RequestListener;
  readonly stop: () => void;
}

/** All of the service but the port it listens on. */
function build(options: Given, listener: Listener): Parts {
  const { user, password, webhookSecret: secret, clock, speed = 1, seed = randomInt(2 ** 31) } = options;
  if (user.includes(':')) throw new Fault('USAGE', 'the user must not hold a colon');
  if (!(speed > 0)) throw new Fault('USAGE', 'the speed must be above 0');
  const store = new SettingsStore(settingsIn(options));
  const sessions = new Sessions(sessionOptions({ user, password, clock }, store));
  const draw = seededDraw(seed);
  const plan = new FaultPlan(draw, clock);
  const gate = new LoadGate(clock, () => plan.get());
  const ledger = new Ledger(`frg-${clock.nowMs().toString(36)}-`);
  const activity = new ActivityLog();
  const { post, close: closePosts } = createPostWebhook();
  const webhookFaults = (): WebhookFaults => plan.webhooks();
  const sender = new WebhookSender({ secret, speed, clock, post, ledger, activity, faults: webhookFaults, draw });
  const reviews = new Reviews(reviewOptions({ clock, seed, ledger, sender }, store));
  const webhook = endpointOf(sender);
  const faults = faultsOf({ plan, sessions, listener, gate });
  const stop = (): void => {
    reviews.reset();
    sender.reset();
  };
  const reset = (): void => {
    faults.set({});
    stop();
    ledger.reset();
    activity.clear();
  };
  const api = new ServiceApi({ clock, sessions, faults: plan, ledger, reviews, settings: store });
  const control = new Control({ faults, settings: store, webhook, ledger, reviews, activity, reset });
  const handler = createHandler({ api, control, faults: plan, ledger, gate, clock });
  return {
    settings: settingsOf(store),
    faults,
    reset,
    webhook,
    ledger,
    activity,
    reviews,
    handler,
    stop: () => {
      stop();
      closePosts();
    },
  };
}

/** The settings among the options; throws `USAGE` when one is wrong. */
function settingsIn(options: ScreeningServiceOptions): Partial<Settings> {
  const given = Object.entries(options).filter(([name, value]) => SETTING_NAMES.includes(name) && value !== undefined);
  const settings = readSettings({ ...DEFAULT_SETTINGS, ...Object.fromEntries(given) });
  if (typeof settings === 'string') throw new Fault('USAGE', settings);
  return settings;
}

/** As the settings are when they are asked for. */
function sessionOptions(
  { user, password, clock }: Pick<SessionOptions, 'user' | 'password' | 'clock'>,
  store: SettingsStore,
): SessionOptions {
  return {
    user,
    password,
    clock,
    get lifetimeMs() {
      return store.get().tokenLifetimeMs;
    },
    get onePerUser() {
      return store.get().oneTokenPerUser;
    },
  };
}

/** As the settings are when they are asked for. */
function reviewOptions(
  { clock, seed, ledger, sender }: Pick<ReviewOptions, 'clock' | 'seed' | 'ledger' | 'sender'>,
  store: SettingsStore,
): ReviewOptions {
  return {
    clock,
    seed,
    ledger,
    sender,
    get afterMs() {
      return store.get().reviewAfterMs;
    },
    get share() {
      return store.get().reviewShare;
    },
  };
}

function settingsOf(store: SettingsStore): ScreeningService['settings'] {
  return {
    get: () => store.get(),
    set: (wish) => {
      const checked = readSettings(wish);
      if (typeof checked === 'string') throw new Fault('USAGE', checked);
      store.set(checked);
    },
  };
}

function endpointOf(sender: WebhookSender): WebhookEndpoint {
  return {
    get: () => ({ url: sender.url, secret: sender.secret }),
    setUrl: (url) => {
      const isUrl = url === null || (/^https?:\/\//u.test(url) && URL.canParse(url));
      if (!isUrl) throw new Fault('USAGE', 'the webhook URL must be absolute, http or https');
      sender.setUrl(url);
    },
    setSecret: (secret) => {
      if (secret === '') throw new Fault('USAGE', 'the webhook secret must not be empty');
      sender.setSecret(secret);
    },
  };
}

interface Faulty {
  readonly plan: FaultPlan;
  readonly sessions: Sessions;
  readonly listener: Listener;
  readonly gate: LoadGate;
}

function faultsOf({ plan, sessions, listener, gate }: Faulty): ScreeningService['faults'] {
  return {
    get: () => plan.get(),
    set: (settings) => {
      const checked = readFaults(settings);
      if (typeof checked === 'string') throw new Fault('USAGE', checked);
      plan.set(checked);
      if (checked.expireTokens === true) sessions.expireAll();
      gate.drain();
      listener.refuse(checked.refuseConnectionsMs ?? 0);
      listener.drop(checked.dropConnectionsMs ?? 0);
    },
  };
}

/** 64 lowercase letters and digits, as the service's own passwords are (spec: Authentication). */
function madeUpPassword(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length: 64 }, () => letters.charAt(randomInt(letters.length))).join('');
}
