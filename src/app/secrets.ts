import { type Config } from '../config/config.ts';
import { readSecret } from '../config/read.ts';
import { type SecretName } from '../config/values.ts';
import { type WatchedFile, watchSecretFiles } from '../edges/system/secret-files.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';

/** The secrets of a configuration as they are now: asked each time, so that a changed file counts without a restart. */
export class Secrets {
  readonly #config: Config;
  #registryPassword: string | null;
  #servicePassword: string;
  #webhookSecrets: readonly string[];
  readonly #listeners = new Map<SecretName, () => void>();

  constructor(config: Config) {
    this.#config = config;
    this.#registryPassword = config.registry.password;
    this.#servicePassword = config.service.password;
    this.#webhookSecrets = config.webhook.secrets;
  }

  /** Null: the registry is asked without one. */
  registryPassword(): string | null {
    return this.#registryPassword;
  }

  servicePassword(): string {
    return this.#servicePassword;
  }

  /** Newest first. */
  webhookSecrets(): readonly string[] {
    return this.#webhookSecrets;
  }

  /** Calls back each time when this one has changed; one listener a secret. */
  onChange(name: SecretName, listener: () => void): void {
    this.#listeners.set(name, listener);
  }

  /** Reads the files of `<NAME>_FILE` again and again until the answer is called. */
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
    return watchSecretFiles({ files, clock });
  }

  /** The same value in other words (a newline at the end) is no change. */
  #take(option: SecretName, content: string): 'changed' | 'same' | 'refused' {
    switch (option) {
      case 'SCHEMA_REGISTRY_PASSWORD': {
        const password = readSecret(option, content);
        if (password === undefined) return 'refused';
        if (password === this.#registryPassword) return 'same';
        this.#registryPassword = password;
        return 'changed';
      }
      case 'SERVICE_PASSWORD': {
        const password = readSecret(option, content);
        if (password === undefined) return 'refused';
        if (password === this.#servicePassword) return 'same';
        this.#servicePassword = password;
        return 'changed';
      }
      case 'WEBHOOK_SECRETS': {
        const secrets = readSecret(option, content);
        if (secrets === undefined) return 'refused';
        if (secrets.join() === this.#webhookSecrets.join()) return 'same';
        this.#webhookSecrets = secrets;
        return 'changed';
      }
    }
  }
}
