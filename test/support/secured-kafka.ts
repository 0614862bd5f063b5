import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import kafkajs, { type AclEntry, type Admin } from 'kafkajs';
import { type Config } from '../../src/config/config.ts';
import { repairKafkajs } from '../../src/edges/kafka/repairs.ts';
import { type SecuredListener, type Security, type Settings } from '../../src/sandbox/broker/properties.ts';
import { type KafkaAndRegistry, startKafka } from '../../src/sandbox/broker/start.ts';
import { Authority, type MadeCertificate } from './certificates.ts';
import { type Environment } from './connector-process.ts';
import { type Access, resourceOf } from './kafka-access.ts';
import { setScramPassword } from './scram-users.ts';
import { TokenServer } from './token-server.ts';

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, Kafka, logLevel, ResourcePatternTypes } = kafkajs;

/** Whom the brokers know, by whichever way it shows who it is. */
export const USER = 'connector';
const PASSWORD = 'plain-password-0123';
const SECRET = 'token-secret';
const HANDLER = 'org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler';
const LOGIN = {
  PLAIN: 'org.apache.kafka.common.security.plain.PlainLoginModule required',
  SCRAM: 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
  OAUTHBEARER: 'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;',
} as const;
/** So that a connection has to show itself anew while a test looks on: kafkajs does so 10 s before. */
const REAUTHENTICATE_MS = 12_000;

/** Ways to show who one is. */
export type Lane = 'tls' | 'mtls' | 'plain' | 'scram-sha-256' | 'scram-sha-512' | 'oauthbearer';

const LISTENERS: Readonly<Record<Lane, string>> = {
  tls: 'TLS',
  mtls: 'MTLS',
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM',
  'scram-sha-512': 'SCRAM',
  oauthbearer: 'OAUTH',
};

/**
 * One broker with a listener for each way to show who one is, and Kafka's own authorizer; who comes by the plain listener may
 * do everything. Secrets and certificates of its clients stand in files that change as a mounted volume does.
 */
export class SecuredKafka {
  readonly kafka: KafkaAndRegistry;
  readonly authority: Authority;
  readonly tokens: TokenServer;
  /** Whom the brokers do not trust. */
  readonly stranger: Authority = new Authority('Another Authority');
  /** Of the way `plain`, for good; and of SCRAM, unless it was changed. */
  readonly password = PASSWORD;
  readonly #folder: string;
  readonly #admin: Admin;
  #files: Readonly<Record<string, string>> = {};

  private constructor(parts: {
    kafka: KafkaAndRegistry;
    authority: Authority;
    tokens: TokenServer;
    folder: string;
    admin: Admin;
  }) {
    this.kafka = parts.kafka;
    this.authority = parts.authority;
    this.tokens = parts.tokens;
    this.#folder = parts.folder;
    this.#admin = parts.admin;
  }

  static async open(options: { readonly registry?: boolean } = {}): Promise<SecuredKafka> {
    repairKafkajs();
    const folder = mkdtempSync(join(tmpdir(), 'secured-kafka-'));
    const authority = new Authority();
    const tokens = await TokenServer.open();
    const security = securityOf(folder, authority, tokens);
    const { registry = false } = options;
    const kafka = await startKafka({ env: process.env, say: () => undefined, registry, security });
    const admin = new Kafka({ brokers: kafka.brokers, logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    const made = new SecuredKafka({ kafka, authority, tokens, folder, admin });
    await made.renew();
    return made;
  }

  /** Credentials as they were at first. */
  async renew(): Promise<void> {
    this.tokens.secret = SECRET;
    await this.setPassword(PASSWORD);
    const pair = named(this.authority.issue({ name: USER }));
    this.mount({ ca: this.authority.certificate, password: PASSWORD, secret: SECRET, ...pair });
  }

  /** The listener of who may do everything. */
  get plain(): string {
    return this.kafka.brokers[0] ?? '';
  }

  address(lane: Lane): string {
    return `127.0.0.1:${String(this.kafka.nodes[0]?.secured.get(LISTENERS[lane]))}`;
  }

  /** What a connector is to be told. */
  env(lane: Lane): Environment {
    const tls = { KAFKA_BROKERS: this.address(lane), KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: this.path('ca') };
    const pair = { KAFKA_TLS_CERT_FILE: this.path('cert'), KAFKA_TLS_KEY_FILE: this.path('key') };
    switch (lane) {
      case 'tls':
        return tls;
      case 'mtls':
        return { ...tls, ...pair };
      case 'plain':
      case 'scram-sha-256':
      case 'scram-sha-512':
        return {
          ...tls,
          KAFKA_SASL_MECHANISM: lane,
          KAFKA_SASL_USERNAME: USER,
          KAFKA_SASL_PASSWORD_FILE: this.path('password'),
        };
      case 'oauthbearer':
        return {
          ...tls,
          KAFKA_SASL_MECHANISM: lane,
          KAFKA_SASL_OAUTH_TOKEN_URL: this.tokens.url,
          KAFKA_SASL_OAUTH_CLIENT_ID: this.tokens.client,
          KAFKA_SASL_OAUTH_CLIENT_SECRET_FILE: this.path('secret'),
          KAFKA_SASL_OAUTH_SCOPE: 'kafka',
        };
    }
  }

  path(file: string): string {
    return join(this.#folder, 'now', file);
  }

  /** Changes files of the clients: a folder beside, and a link that is swapped. Those that are not named stay. */
  mount(files: Readonly<Record<string, string>>): void {
    this.#files = { ...this.#files, ...files };
    const next = mkdtempSync(join(this.#folder, 'data-'));
    for (const [name, content] of Object.entries(this.#files)) writeFileSync(join(next, name), content);
    symlinkSync(next, join(this.#folder, 'next'));
    renameSync(join(this.#folder, 'next'), join(this.#folder, 'now'));
  }

  /** A certificate as the client's two files. */
  mountPair(issued: MadeCertificate): void {
    this.mount(named(issued));
  }

  /** Another password of the user, at the broker; the files are another matter. */
  async setPassword(password: string): Promise<void> {
    await setScramPassword(this.plain, USER, password);
  }

  async grant(config: Config, ...rights: readonly Access[]): Promise<void> {
    const acl = [
      ...new Map(rights.map((right) => [JSON.stringify(aclOf(config, right)), aclOf(config, right)])).values(),
    ];
    await this.#admin.createAcls({ acl });
  }

  async take(config: Config, right: Access): Promise<void> {
    const { resourceType, resourceName, resourcePatternType, ...acl } = aclOf(config, right);
    await this.#admin.deleteAcls({
      filters: [{ resourceType, resourceName, resourcePatternType, ...acl }],
    });
  }

  /** Takes away everything that was granted. */
  async takeAll(): Promise<void> {
    await this.#admin.deleteAcls({
      filters: [
        {
          resourceType: AclResourceTypes.ANY,
          resourcePatternType: ResourcePatternTypes.ANY,
          operation: AclOperationTypes.ANY,
          permissionType: AclPermissionTypes.ANY,
        },
      ],
    });
  }

  async close(): Promise<void> {
    await this.#admin.disconnect();
    await this.kafka.stop();
    await this.tokens.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function named({ certificate, key }: MadeCertificate): Readonly<Record<string, string>> {
  return { cert: certificate, key };
}

const OPERATIONS = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Describe: AclOperationTypes.DESCRIBE,
  Create: AclOperationTypes.CREATE,
  Delete: AclOperationTypes.DELETE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
} as const;
const RESOURCES = {
  topic: AclResourceTypes.TOPIC,
  group: AclResourceTypes.GROUP,
  cluster: AclResourceTypes.CLUSTER,
} as const;
const PATTERNS = { literal: ResourcePatternTypes.LITERAL, prefixed: ResourcePatternTypes.PREFIXED } as const;

function aclOf(config: Config, { operation, on }: Access): AclEntry {
  const { kind, name, pattern } = resourceOf(config, on);
  return {
    resourceType: RESOURCES[kind],
    resourceName: name,
    resourcePatternType: PATTERNS[pattern],
    principal: `User:${USER}`,
    host: '*',
    operation: OPERATIONS[operation],
    permissionType: AclPermissionTypes.ALLOW,
  };
}

function securityOf(folder: string, authority: Authority, tokens: TokenServer): Security {
  const server = authority.issue();
  const store = join(folder, 'broker.pem');
  const trusted = join(folder, 'trusted.pem');
  const keys = join(folder, 'keys.json');
  writeFileSync(store, `${server.key}${server.certificate}`);
  writeFileSync(trusted, authority.certificate);
  writeFileSync(keys, tokens.keys);
  const tls: Settings = { 'ssl.keystore.type': 'PEM', 'ssl.keystore.location': store };
  const sasl = (mechanisms: string): Settings => ({
    ...tls,
    'sasl.enabled.mechanisms': mechanisms,
    'connections.max.reauth.ms': REAUTHENTICATE_MS,
  });
  const listeners: SecuredListener[] = [
    { name: 'TLS', protocol: 'SSL', settings: tls },
    {
      name: 'MTLS',
      protocol: 'SSL',
      settings: {
        ...tls,
        'ssl.client.auth': 'required',
        'ssl.truststore.type': 'PEM',
        'ssl.truststore.location': trusted,
        'ssl.principal.mapping.rules': 'RULE:^CN=([^,]+).*$/$1/,DEFAULT',
      },
    },
    {
      name: 'PLAIN',
      protocol: 'SASL_SSL',
      settings: {
        ...sasl('PLAIN'),
        'plain.sasl.jaas.config': `${LOGIN.PLAIN} user_${USER}="${PASSWORD}";`,
      },
    },
    {
      name: 'SCRAM',
      protocol: 'SASL_SSL',
      settings: {
        ...sasl('SCRAM-SHA-256,SCRAM-SHA-512'),
        'scram-sha-256.sasl.jaas.config': LOGIN.SCRAM,
        'scram-sha-512.sasl.jaas.config': LOGIN.SCRAM,
      },
    },
    {
      name: 'OAUTH',
      protocol: 'SASL_SSL',
      settings: {
        ...sasl('OAUTHBEARER'),
        'oauthbearer.sasl.jaas.config': LOGIN.OAUTHBEARER,
        'oauthbearer.sasl.server.callback.handler.class': HANDLER,
        'oauthbearer.sasl.oauthbearer.jwks.endpoint.url': pathToFileURL(keys).href,
      },
    },
  ];
  const allowed = pathToFileURL(keys).href;
  return {
    listeners,
    settings: {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
    },
    java: [
      `-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=${allowed}`,
      `-Dorg.apache.kafka.sasl.oauthbearer.allowed.files=${keys}`,
    ],
  };
}
