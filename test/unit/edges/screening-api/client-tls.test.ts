import { once } from 'node:events';
import { createServer as createPlain } from 'node:http';
import { type AddressInfo } from 'node:net';
import { onTestFinished, expect, test } from 'vitest';
import { createConnect, type TlsMaterial } from '../../../../src/edges/system/connect.ts';
import { createScreeningApi, type ScreeningApiEdge } from '../../../../src/edges/screening-api/client.ts';
import { tryLogin } from '../../../../src/edges/screening-api/try-login.ts';
import { Authority, type MadeCertificate } from '../../../support/certificates.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { TlsRelay } from '../../../support/tls-relay.ts';

const AUTHORITY = new Authority();
const CLIENTS = new Authority('Clients');

interface Rig {
  readonly api: ScreeningApiEdge;
  readonly relay: TlsRelay;
  readonly clock: ManualClock;
  readonly seen: string[];
  tls: TlsMaterial;
}

/** A client before a service that asks for a certificate of `CLIENTS`; both end with the test. */
async function startRig(shown: MadeCertificate | null): Promise<Rig> {
  const seen: string[] = [];
  const service = createPlain((request, response) => {
    seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
    request.resume().on('end', () => {
      response.end(request.url?.endsWith('/sessions') === true ? '{"sessionToken":"t"}' : '{}');
    });
  }).listen(0, '127.0.0.1');
  await once(service, 'listening');
  const url = `http://127.0.0.1:${String((service.address() as AddressInfo).port)}`;
  const relay = await TlsRelay.open(url, { ...AUTHORITY.issue(), peers: [CLIENTS.certificate] });
  const clock = new ManualClock();
  const rig = { relay, clock, seen, tls: { authorities: AUTHORITY.certificate, pair: shown } };
  const connect = createConnect({ limitMs: 2000, tls: () => rig.tls, proxy: () => null }, clock);
  const api = createScreeningApi(
    {
      baseUrl: relay.url,
      version: '1.2.3',
      scoringConnections: 2,
      syncConnections: 1,
      timeoutMs: 5000,
      syncTimeoutMs: 5000,
      connectTimeoutMs: 2000,
      connect,
    },
    {
      clock,
      draw: () => 0.5,
      emit: () => undefined,
      fence: { mayWrite: () => true },
      credentials: () => ({ username: 'shop', password: 'x' }),
    },
  );
  onTestFinished(async () => {
    await api.close();
    await relay.close();
    service.closeAllConnections();
    service.close();
    await once(service, 'close');
  });
  return Object.assign(rig, { api });
}

test('a service that refuses our certificate gets no request, and gets them again when it is shown another', async () => {
  const rig = await startRig(CLIENTS.issue());
  expect(await rig.api.score(Buffer.from('{}'))).toMatchObject({ do: 'answer', status: 200 });
  rig.tls = { ...rig.tls, pair: AUTHORITY.issue({ name: 'stranger' }) };
  rig.relay.cut();
  // With TLS 1.3 our side has begun to write when it is refused, so it cannot be told from a connection that broke.
  for (let tries = 0; tries < 3; tries += 1)
    expect(await rig.api.score(Buffer.from('{}'))).toMatchObject({ do: 'failed' });
  expect(rig.seen).toEqual(['POST /api/v2/sessions', 'POST /api/v2/transaction']);
  rig.tls = { ...rig.tls, pair: CLIENTS.issue() };
  expect(await rig.api.score(Buffer.from('{}'))).toMatchObject({ do: 'answer', status: 200 });
});

test('one that asks for a certificate gets no request from who has none', async () => {
  const rig = await startRig(null);
  expect(await rig.api.score(Buffer.from('{}'))).toMatchObject({ do: 'no_session', why: 'service_down' });
  expect(rig.seen).toEqual([]);
});

test('a login that is only tried is made on a connection of the same kind', async () => {
  const rig = await startRig(CLIENTS.issue());
  const connect = createConnect({ limitMs: 2000, tls: () => rig.tls, proxy: () => null }, rig.clock);
  const settings = { baseUrl: rig.relay.url, userAgent: 'test', limitMs: 2000, connect };
  const credentials = { username: 'shop', password: 'x' };
  expect(await tryLogin(settings, credentials, rig.clock)).toMatchObject({ do: 'answer', hasToken: true });
  rig.tls = { authorities: CLIENTS.certificate, pair: null };
  expect(await tryLogin(settings, credentials, rig.clock)).toEqual({
    do: 'failed',
    error: 'Error UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  });
});
