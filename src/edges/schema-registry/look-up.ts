import { SchemaRegistry } from '@kafkajs/confluent-schema-registry';
import avsc, { type Type } from 'avsc';
import { Fault } from '../../kernel/fault.ts';
import { withOwnNames } from './prototype-names.ts';
import { type RegistryAnswer, type RegistryTransport } from './transport.ts';

/** What the registry says of a schema id. */
export type LookUp =
  | { readonly do: 'type'; readonly type: Type }
  /** There is a schema, but none that Avro values can be read with. */
  | { readonly do: 'unreadable' }
  /** The registry itself says that there is none (404 with an error code of its own). */
  | { readonly do: 'absent' }
  | { readonly do: 'failed'; readonly error: string };

type ClientOptions = ConstructorParameters<typeof SchemaRegistry>[0];
type Middleware = NonNullable<ClientOptions['middlewares']>[number];

type MiddlewareAnswer = Awaited<ReturnType<NonNullable<ReturnType<Middleware>['response']>>>;

/** Complete, because the client writes what is given over its defaults for all instances. Nothing of it is used: the engine repeats. */
const NO_RETRY = { maxRetryTimeInSecs: 0, initialRetryTimeInSecs: 0, factor: 0, multiplier: 1, retries: 0 };

/**
 * Fetches a schema with those it refers to, and compiles it; names that every object has are changed in it (`withOwnNames`). Never rejects. The registry's client follows the references;
 * the requests go over our transport in place of the client's own, which has no time limit, never ends when an error's
 * body is `null`, and calls a refused connection status 400. A client lives for one look: its caches have no bound.
 */
export async function lookUp(transport: RegistryTransport, id: number): Promise<LookUp> {
  const answers: RegistryAnswer[] = [];
  const client = new SchemaRegistry({
    host: 'http://registry.invalid',
    retry: NO_RETRY,
    middlewares: [over(transport, answers)],
  });
  try {
    const type: unknown = await client.getSchema(id);
    return avsc.Type.isType(type) ? { do: 'type', type: type as Type } : { do: 'unreadable' };
  } catch {
    return reasonOf(answers);
  }
}

function over(transport: RegistryTransport, answers: RegistryAnswer[]): Middleware {
  return () => {
    let path = '/';
    return {
      prepareRequest: async (next) => {
        const request = await next();
        path = request.path();
        return request;
      },
      response: async () => {
        const answer = await transport.request('GET', path);
        answers.push(answer);
        const body = avroOf(answer);
        if (body === null) throw new Fault('REGISTRY_FAILED', 'the registry gave no Avro schema');
        // The client asks an answer for nothing else.
        const read = { ...body, schema: withOwnNames(body.schema) };
        return { data: () => read } as unknown as MiddlewareAnswer;
      },
    };
  };
}

/** The body of an answer that holds an Avro schema. */
function avroOf(answer: RegistryAnswer): { readonly schema: string } | null {
  if (answer.do === 'failed' || answer.status !== 200 || !holdsSchema(answer.body)) return null;
  const { schemaType } = answer.body;
  return schemaType === undefined || schemaType === null || schemaType === 'AVRO' ? answer.body : null;
}

function holdsSchema(body: unknown): body is { readonly schema: string; readonly schemaType?: unknown } {
  return typeof body === 'object' && body !== null && 'schema' in body && typeof body.schema === 'string';
}

/** Only the answer to the id itself can say that there is none: a reference that is missing is the registry's trouble. */
function reasonOf(answers: readonly RegistryAnswer[]): LookUp {
  const last = answers.at(-1);
  if (last === undefined) return { do: 'failed', error: 'not asked' };
  if (last.do === 'failed') return last;
  if (last.status === 404 && answers.length === 1 && isUnknown(last)) return { do: 'absent' };
  if (last.status !== 200) return { do: 'failed', error: `status ${last.status}` };
  return holdsSchema(last.body) ? { do: 'unreadable' } : { do: 'failed', error: 'no schema in the answer' };
}

/** Whether a registry says that it does not have what was asked for; a proxy's or a wrong path's 404 has no such code. */
export function isUnknown(answer: RegistryAnswer): boolean {
  if (answer.do === 'failed' || answer.status !== 404) return false;
  const { body } = answer;
  if (typeof body !== 'object' || body === null || !('error_code' in body)) return false;
  return typeof body.error_code === 'number' && Math.trunc(body.error_code / 100) === 404;
}
