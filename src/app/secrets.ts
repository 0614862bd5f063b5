import { type Config } from '../config/config.ts';
import { KAFKA_TLS } from '../config/kafka-security.ts';
import { readSecret } from '../config/read.ts';
import { REGISTRY_TLS, SERVICE_TLS } from '../config/tls.ts';
import { NO_TRACE_HEADERS, type Pairs, traceHeadersOf } from '../config/tracing.ts';
import { type SecretName, type Values } from '../config/values.ts';
import { type WatchedFile, watchSecretFiles } from '../edges/system/secret-files.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { FollowedTls } from './followed-tls.ts';

/** The secrets and certificates of a configuration as they are now: asked each time, so that a changed file counts without a restart. */
export class Secrets {
  /** Towards the screening service, and below towards the registry. */
  readonly serviceTls: FollowedTls;
  readonly registryTls: FollowedTls;
  /** Towards the brokers; null: they are spoken to in plain text. */
  readonly kafkaTls: FollowedTls | null;
  readonly #config: Config;
  #now: SecretValues;
  readonly #listeners = new Map<SecretName, () => void>();

  constructor(config: Config) {
    this.#config = config;
    this.#now = valuesOf(config);
    this.serviceTls = new FollowedTls(SERVICE_TLS, config.service.tls);
    this.registryTls = new FollowedTls(REGISTRY_TLS, config.registry.tls);
    this.kafkaTls = config.kafka.tls === null ? null : new FollowedTls(KAFKA_TLS, config.kafka.tls);
  }

  /** The password for the brokers, or the secret of who asks for their tokens; empty: neither is used. */
  kafkaSecret(): string {
    const { sasl } = this.#config.kafka;
    if (sasl === null) return '';
    const { KAFKA_SASL_OAUTH_CLIENT_SECRET: clientSecret, KAFKA_SASL_PASSWORD: password } = this.#now;
    return sasl.mechanism === 'oauthbearer' ? clientSecret : password;
  }

  /** Null: the registry is asked without one. */
  registryPassword(): string | null {
    return this.#config.registry.username === null ? null : this.#now.SCHEMA_REGISTRY_PASSWORD;
  }

  servicePassword(): string {
    return this.#now.SERVICE_PASSWORD;
  }

  /** Perhaps with user info; null: the service is reached without a proxy. */
  proxyUrl(): string | null {
    const { SERVICE_PROXY_URL: url } = this.#now;
    return url === '' ? null : url;
  }

  /** Of an export of traces: names in lower case, and values. */
  traceHeaders(): Pairs {
    return traceHeadersOf(this.#now);
  }

  /** Newest first. */
  webhookSecrets(): readonly string[] {
    return this.#now.WEBHOOK_SECRETS;
  }

  /** Calls back each time when this one has changed; one listener a secret. */
  onChange(name: SecretName, listener: () => void): void {
    this.#listeners.set(name, listener);
  }

  /** Reads the files of `<NAME>_FILE` and of TLS again and again until the answer is called. */
  watch({ clock, emit }: { readonly clock: Clock; readonly emit: Emit }): () => void {
    const files = [...this.#config.secretFiles].map(([option, path]): WatchedFile => {
      return {
        path,
        take: (content) => {
          const taken = this.#take(option, content);
          if (taken === 'changed') {
            emit('secret_reloaded', { option });
            this.#listeners.get(option)?.();
          }
          return taken !== 'refused';
        },
        onFail: (why) => {
          emit('secret_reload_failed', { option, why });
        },
      };
    });
    const tls = [this.serviceTls, this.registryTls, this.kafkaTls].map((each) => each?.follow({ clock, emit }));
    const unwatch = watchSecretFiles({ files, clock });
    return () => {
      unwatch();
      for (const end of tls) end?.();
    };
  }

  /** The same value in other words (a newline at the end) is no change. */
  #take(option: SecretName, content: string): 'changed' | 'same' | 'refused' {
    const value = readSecret(option, content);
    if (value === undefined) return 'refused';
    if (textOf(value) === textOf(this.#now[option])) return 'same';
    this.#now = { ...this.#now, [option]: value };
    return 'changed';
  }
}

function textOf(value: string | readonly string[] | Pairs): string {
  return typeof value === 'string' ? value : JSON.stringify([...value]);
}

/** The value of each secret; empty where it is not used. */
type SecretValues = { readonly [N in SecretName]: Values[N] };

function valuesOf({ kafka: { sasl }, registry, service, tracing, webhook }: Config): SecretValues {
  return {
    KAFKA_SASL_PASSWORD: sasl === null || sasl.mechanism === 'oauthbearer' ? '' : sasl.password,
    KAFKA_SASL_OAUTH_CLIENT_SECRET: sasl?.mechanism === 'oauthbearer' ? sasl.clientSecret : '',
    SCHEMA_REGISTRY_PASSWORD: registry.password ?? '',
    SERVICE_PASSWORD: service.password,
    SERVICE_PROXY_URL: service.proxyUrl ?? '',
    ...(tracing?.headers ?? NO_TRACE_HEADERS),
    WEBHOOK_SECRETS: webhook.secrets,
  };
}
