import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { checkSchemas, registerSchemas } from '../../../src/app/schemas-command.ts';
import { type CommandParts } from '../../../src/app/topics-command.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type CompatibilityLevel } from '../../../src/edges/schema-registry/subjects.ts';
import { systemClock } from '../../../src/edges/system/clock.ts';
import { type Terminal } from '../../../src/edges/system/terminal.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Command {
  readonly said: readonly string[];
  /** What the registry was asked to change. */
  readonly changes: readonly string[];
}

/** What a command says beside a registry that holds three versions of another schema. */
async function beside(
  level: string,
  takes: (version: string) => boolean,
  command: (parts: CommandParts) => Promise<number>,
): Promise<Command> {
  const changes: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const { method, url = '' } = request;
    const found = (body: unknown, status = 200): void => {
      response.writeHead(status).end(JSON.stringify(body));
    };
    const version = url.split('/').at(-1) ?? '';
    const isChange = method === 'PUT' || (method === 'POST' && url.endsWith('/versions'));
    if (isChange) changes.push(`${method} ${url}`);
    if (url.startsWith('/config')) found({ compatibilityLevel: level });
    else if (url.startsWith('/compatibility')) found({ is_compatible: takes(version) });
    else if (isChange) found({ id: 7 });
    else if (url.endsWith('/versions')) found([1, 2, 3]);
    else if (method === 'GET') found({ version: 3 });
    else found({ error_code: 40403 }, 404);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(() => server.close());
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const { config } = loadConfig({
    env: {
      FLOWS: 'reviews',
      KAFKA_BROKERS: 'localhost:9092',
      SCHEMA_REGISTRY_URL: url,
      WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjU',
    },
    readFile: () => '',
  });
  const said: string[] = [];
  const terminal = { say: (line: string) => void said.push(line) } as unknown as Terminal;
  await command({ config, terminal, clock: systemClock });
  return { said, changes };
}

async function checked(level: string, takes: (version: string) => boolean): Promise<readonly string[]> {
  const { said, changes } = await beside(level, takes, async (parts) => {
    const exit = await checkSchemas(parts, false);
    expect(exit).toBe(1);
    return exit;
  });
  expect(changes).toEqual([]);
  return said;
}

const SUBJECT = 'fraud.reviews-value';

test('says how many versions ours fits, where the level asks for all of them', async () => {
  expect(await checked('FULL_TRANSITIVE', () => true)).toEqual([
    `✗ ${SUBJECT}: older ones are registered, ours fits all 3 (FULL_TRANSITIVE); register ours with: fraud-connector schemas register`,
  ]);
});

test('says that it asked for the latest alone, where the level asks for no more', async () => {
  expect((await checked('BACKWARD', (version) => version === 'latest'))[0]).toContain(
    'ours fits the latest (BACKWARD: no more was asked)',
  );
});

test('names the version that does not go with ours', async () => {
  expect((await checked('BACKWARD_TRANSITIVE', (version) => version === '3'))[0]).toContain(
    'version 2 that is registered does not go with ours',
  );
  expect((await checked('NONE', () => false))[0]).toContain('the latest version that is registered does not go');
});

function register(compatibility: CompatibilityLevel | null): (parts: CommandParts) => Promise<number> {
  return async (parts) => await registerSchemas(parts, { inputs: false, compatibility });
}

describe('schemas register', () => {
  test('offers to set a level below BACKWARD, and leaves it alone', async () => {
    const { said, changes } = await beside('NONE', () => true, register(null));
    expect(said).toEqual([
      `✓ ${SUBJECT}: id 7`,
      `! ${SUBJECT}: compatibility NONE takes schemas that cannot read older records; set it with: fraud-connector schemas register --compatibility FULL_TRANSITIVE`,
    ]);
    expect(changes).toEqual([`POST /subjects/${SUBJECT}/versions`]);
  });

  test('has nothing to offer where the level will do', async () => {
    const { said } = await beside('BACKWARD', () => true, register(null));
    expect(said).toEqual([`✓ ${SUBJECT}: id 7`]);
  });

  test('sets the level that it is told, after the schema is there', async () => {
    const { said, changes } = await beside('NONE', () => true, register('FULL_TRANSITIVE'));
    expect(said).toEqual([`✓ ${SUBJECT}: id 7, compatibility FULL_TRANSITIVE`]);
    expect(changes).toEqual([`POST /subjects/${SUBJECT}/versions`, `PUT /config/${SUBJECT}`]);
  });
});
