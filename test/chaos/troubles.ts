import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ScreeningService } from '../../src/sandbox/service/screening-service.ts';
import { type Act } from './acts.ts';
import { type ClusterView } from './cluster-view.ts';
import { deedsOf, type Tally } from './deeds.ts';
import { type Ill, ILLS, strokesOf } from './ills.ts';
import { type Links } from './links.ts';
import { type Mail } from './mail.ts';
import { FINE, type TcpProxy, type Weather } from './tcp-proxy.ts';
import { type Witness } from './witness.ts';

/** As Kafka's own tests have it: 100 ms each way, 3 Mbit/s. */
const SLOW: Weather = { is: 'slow', delayMs: 100, bytesPerSecond: 375_000 };

/** Beyond the longest that a connector keeps calls back. */
const ASKED_LIMIT_MS = 100_000;
const LATELY_MS = 1000;

export interface TroublesParts {
  readonly links: Links;
  readonly connectors: number;
  readonly service: ScreeningService;
  /** Of the service when it is well. */
  readonly latencyMs: number;
  readonly witness: Witness;
  readonly mail: Mail;
  readonly view: ClusterView;
  readonly tally: Tally;
}

type Of<D extends Act['do']> = Extract<Act, { readonly do: D }>;

/** What befalls the connectors from outside, without an end of any process: wires, the service, webhooks. */
export class Troubles {
  readonly #parts: TroublesParts;

  constructor(parts: TroublesParts) {
    this.#parts = parts;
  }

  /** Answers where the wire led. */
  async wire(act: Of<'wire'>): Promise<string> {
    const { tally } = this.#parts;
    const { wire, where } = await this.#wireOf(act);
    const before = wire.struck;
    if (act.fault === 'forgotten') wire.forget();
    else {
      wire.set(act.fault === 'slow' ? SLOW : { is: act.fault });
      await sleep(act.forMs);
      wire.set(FINE);
    }
    if (wire.struck > before) for (const deed of deedsOf(act)) tally.add(deed);
    return where;
  }

  /** Nobody reaches the registry for so long, in which `meanwhile` begins. */
  async registryAway({ forMs }: Of<'registry_away'>, meanwhile: () => Promise<void>): Promise<void> {
    const { links, connectors, tally } = this.#parts;
    const wires = Array.from({ length: connectors }, (_, index) => links.toRegistry(index + 1));
    const struck = (): number => wires.reduce((sum, wire) => sum + wire.struck, 0);
    const before = struck();
    for (const wire of wires) wire.set({ is: 'cut' });
    const began = meanwhile();
    await sleep(forMs);
    for (const wire of wires) wire.set(FINE);
    await began;
    if (struck() > before) tally.add('registryAway');
  }

  async ill(act: Of<'ill'>): Promise<number> {
    const { service, witness, latencyMs, tally } = this.#parts;
    const ill: Ill = ILLS[act.ill];
    await this.#untilAsked();
    const sinceMs = performance.now();
    const refusedBefore = this.#refused();
    service.settings.set(ill.settings ?? {});
    service.faults.set({ latencyMs, ...ill.faults });
    const strokesSoFar = (): number =>
      strokesOf(act.ill, { ...seenBy(witness), refused: this.#refused() - refusedBefore }, sinceMs);
    await sleep(act.forMs);
    // Where calls are kept back by what was before, it waits for somebody whom it can befall.
    while (strokesSoFar() === 0 && performance.now() - sinceMs < ASKED_LIMIT_MS) await sleep(LATELY_MS / 4);
    service.faults.set({ latencyMs });
    service.settings.set({ oneTokenPerUser: false });
    const strokes = strokesSoFar();
    if (strokes > 0) for (const deed of deedsOf(act)) tally.add(deed);
    return strokes;
  }

  /** Connections to the service that it has not taken. */
  #refused(): number {
    const { links, connectors } = this.#parts;
    const wires = Array.from({ length: connectors }, (_, index) => links.toService(index + 1));
    return wires.reduce((sum, { refused }) => sum + refused, 0);
  }

  /** The last ill may keep calls back for a minute still: nobody would meet the next one. */
  async #untilAsked(): Promise<void> {
    const { witness } = this.#parts;
    const latestMs = performance.now() + ASKED_LIMIT_MS;
    const isAsked = (): boolean => {
      const last = witness.sightings.findLast(({ status }) => status === 200);
      return last !== undefined && last.startedMs > performance.now() - LATELY_MS;
    };
    while (!isAsked() && performance.now() < latestMs) await sleep(LATELY_MS / 4);
  }

  async flood({ perSecond, forMs }: Of<'flood'>): Promise<void> {
    const { mail, tally } = this.#parts;
    const forged = (): number => mail.letters.filter(({ isForged }) => isForged).length;
    const before = forged();
    await mail.flood(perSecond, forMs, { forged: true });
    tally.add('floods');
    tally.add('forgedWebhooks', forged() - before);
  }

  async #wireOf({ connector, to, node: choice }: Of<'wire'>): Promise<{ wire: TcpProxy; where: string }> {
    const { links, view } = this.#parts;
    if (to === 'registry') return { wire: links.toRegistry(connector), where: to };
    if (to === 'service') return { wire: links.toService(connector), where: to };
    const node = to === 'coordinator' ? await view.coordinator() : await view.leader(choice);
    return { wire: links.toNode(connector, node), where: `node ${String(node)}` };
  }
}

function seenBy({ sightings, logins }: Witness): Pick<Witness, 'sightings' | 'logins'> {
  return { sightings, logins };
}
