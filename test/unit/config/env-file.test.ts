import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseEnvFile } from '../../../src/config/env-file.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { type ConfigSource } from '../../../src/config/read.ts';
import { isFault } from '../../../src/kernel/fault.ts';

const parse = (text: string) => parseEnvFile('.env', text);
const readFile = (path: string): string => `content of ${path}`;

describe('refusals', () => {
  test.each([
    ['KAFKA_BROKERS localhost:9092', 'not `NAME=value`'],
    ['KAFKA_BROKERS =localhost:9092', 'no space may stand around the name'],
    ['1ST=x', 'not `NAME=value`'],
    ['export', 'not `NAME=value`'],
    ["A='hunter2", 'the single quote is not closed'],
    ['A="hunter2', 'the double quote is not closed'],
    ['A="hunter2\\"', 'the double quote is not closed'],
    ['A="hunter2\\', 'a backslash'],
    ['A="hun\\ter\\2"', 'a backslash'],
    ["A='hunter'2", 'behind the closing quote'],
    ['A="hunter" 2', 'behind the closing quote'],
  ])('%s', (line, problem) => {
    const { problems } = parse(`# head\n\n${line}\n`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^\.env, line 3: /);
    expect(problems.join('')).toContain(problem);
    expect(problems.join('')).not.toContain('hunter');
  });

  test('tells a name that is given twice, and on which lines', () => {
    expect(parse('A=1\nB=2\nA=3').problems).toEqual([
      '.env, line 3: A is given again, first on line 1; leave one out.',
    ]);
  });

  test('reports wrong lines together with wrong options', () => {
    const source: ConfigSource = { env: {}, envFile: parse('nonsense\nOPS_PORT=x\n'), readFile };
    let message = '';
    try {
      loadConfig(source);
    } catch (error) {
      if (isFault(error, 'CONFIG_INVALID')) ({ message } = error);
    }
    expect(message).toContain('.env, line 1: not `NAME=value`');
    expect(message).toContain('OPS_PORT: "x" is not accepted');
    expect(message).toContain('KAFKA_BROKERS: missing');
  });
});

describe('values', () => {
  test.each([
    ['A=b', 'b'],
    ['A=', ''],
    ['  A=  b c  ', 'b c'],
    ['export A=b', 'b'],
    ['A=b # said', 'b'],
    ['A=b#c', 'b#c'],
    ['A=#c', '#c'],
    ['A= # said', ''],
    ["A=it's", "it's"],
    ['A=b=c==', 'b=c=='],
    ["A=' b # \\n$c \"' # said", ' b # \\n$c "'],
    ['A=" b # \\"\\\\\\n\\$ "', ' b # "\\\n$ '],
    ["A=''", ''],
    ['A="b"#c', 'b'],
    ['A="ä€"', 'ä€'],
  ])('%s', (line, value) => {
    const { values, problems } = parse(line);
    expect(problems).toEqual([]);
    expect(values['A']).toBe(value);
  });

  test('knows the ends of lines and the byte order mark of other systems', () => {
    expect(parse('\uFEFFA=1\r\nB=2\r\n').values).toEqual({ A: '1', B: '2' });
  });

  test('expands nothing, and says so where a shell would', () => {
    const { values, warnings } = parse('A=$HOME/x\nB="${HOME}"\nC=\'$HOME\'\nD="\\$HOME"\nE=5$\n');
    expect(values).toEqual({ A: '$HOME/x', B: '${HOME}', C: '$HOME', D: '$HOME', E: '5$' });
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toMatch(/^\.env, line 1: A: `\$` is taken as it stands/);
  });

  test('a name of an object is a name like any other', () => {
    const { values } = parse('__proto__=x\nconstructor=y\n');
    expect(Object.entries(values)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ]);
  });

  test('whatever stands in single quotes comes back as it is', () => {
    const plain = fc.string({ unit: 'binary' }).filter((text) => !/['\r\n]/.test(text));
    fc.assert(
      fc.property(plain, (text) => {
        expect(parse(`A='${text}'`).values['A']).toBe(text);
      }),
    );
  });

  test('never fails, and never shows a value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { problems, warnings } = parse(`A="canary${text}\nB='canary${text}\n${text}`);
        expect([...problems, ...warnings].join('')).not.toContain('canary');
      }),
    );
  });
});

describe('precedence', () => {
  const REST =
    'KAFKA_BROKERS=localhost:1\nSCHEMA_REGISTRY_URL=http://localhost:2\nWEBHOOK_SECRETS=0123456789-0123456789-0123\n';
  const load = (text: string, env: Record<string, string>) =>
    loadConfig({ env: { FLOWS: 'reviews', ...env }, envFile: parse(REST + text), readFile }).config;

  test('the environment wins, an empty variable of it does not, but where empty is a value', () => {
    const file = 'ACCOUNT=file\nOPS_PORT=1000\nTOPIC_SCORES=scores\n';
    const config = load(file, { ACCOUNT: 'env', OPS_PORT: '', TOPIC_SCORES: '' });
    expect(config.account).toBe('env');
    expect(config.ops.port).toBe(1000);
    expect(config.topics.scores).toBeNull();
  });

  test('what Kubernetes sets for services hides nothing', () => {
    expect(load('OPS_PORT=1000\n', { OPS_PORT: 'tcp://10.0.0.1:9464' }).ops.port).toBe(1000);
  });

  test('a secret of the environment wins in either of its forms', () => {
    const byFile = load('SERVICE_PASSWORD=file\n', { SERVICE_PASSWORD_FILE: '/pw' });
    expect(byFile.service.password).toBe('content of /pw');
    expect([...byFile.secretFiles]).toEqual([['SERVICE_PASSWORD', '/pw']]);
    const byValue = load('SERVICE_PASSWORD_FILE=/pw\n', { SERVICE_PASSWORD: 'env' });
    expect(byValue.service.password).toBe('env');
    expect(byValue.secretFiles.size).toBe(0);
    expect(load('SERVICE_PASSWORD_FILE=/pw\n', {}).service.password).toBe('content of /pw');
  });
});
