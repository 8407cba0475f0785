import { setTimeout as sleep } from 'node:timers/promises';
import { pathParams, type Api, type Endpoint, type Operation } from '@granary/contract';
import { ApiError, call, exchange, type Answer, type Connection } from '@granary/client';
import { CommandFailure, exitCodes } from '../exit.ts';
import { cellText } from '../output/cells.ts';
import { httpStatusOf } from '../output/errors.ts';
import { showProgress } from '../output/progress.ts';
import type { Terminal } from '../terminal.ts';
import { recordsNamed } from './references.ts';

const POLL_MS_FIRST = 200;
const POLL_MS_MAX = 1_000;
const POLL_GROWTH = 1.5;

type Fields = Readonly<Record<string, unknown>>;

interface Work {
  readonly api: Api;
  readonly operation: Operation;
  readonly connection: Connection;
  /** What the call that started the work was sent. */
  readonly input: Fields;
  /** What the work is about, as the person called it. */
  readonly subject: string;
  /** What that call replied. */
  readonly started: Answer;
  readonly timeoutMs: number;
  readonly terminal: Terminal;
}

/** What a look at the record found. */
type Sight = Fields | 'gone' | 'not there yet';

/** Whether the record that the work is about can be found: at the same path, or by the name it was given. */
export function canWait(api: Api, operation: Operation): boolean {
  if (!operation.endpoint.job) return false;
  return watchedGet(api, operation) !== undefined || isNamed(api, operation);
}

/**
 * Watches the record that the work is about until it is in one of the states the contract names. Returns the record
 * as `get` shows it, or nothing when the work left none.
 */
export async function waitForWork(work: Work): Promise<Answer | undefined> {
  const pollOnce = watcherOf(work);
  const giveUpAt = performance.now() + work.timeoutMs;
  const progress = showProgress(work.terminal, work.subject);
  try {
    progress.print(messageOf(work.started));
    let sight: Sight = 'not there yet';
    for (
      let pollMs = POLL_MS_FIRST;
      performance.now() < giveUpAt;
      pollMs = Math.min(pollMs * POLL_GROWTH, POLL_MS_MAX)
    ) {
      sight = await pollOnce();
      if (isDone(sight, work)) {
        progress.finish();
        return await finalReply(work, sight);
      }
      if (typeof sight === 'object') progress.show(sight);
      await sleep(pollMs);
    }
    throw tookTooLong(work, sight);
  } finally {
    progress.stop();
  }
}

function isDone(sight: Sight, work: Work): boolean {
  const until = work.operation.endpoint.job?.until ?? [];
  if (sight === 'not there yet') return false;
  if (sight === 'gone') {
    if (until.includes('deleted')) return true;
    throw new CommandFailure(exitCodes.failed, `${work.subject} is gone: it was removed or denied.`);
  }
  const status = String(sight['status']);
  if (until.includes(status)) return true;
  if (status.toLowerCase() === 'failed')
    throw new CommandFailure(
      exitCodes.failed,
      `${work.subject} failed: ${cellText(sight['status_message']) || 'no reason was given'}`,
    );
  return false;
}

function tookTooLong(work: Work, sight: Sight): CommandFailure {
  const state = typeof sight === 'object' ? String(sight['status']) : 'not there';
  return new CommandFailure(
    exitCodes.failed,
    `${work.subject} is still ${state} after ${work.timeoutMs / 1000} s; the work goes on, only this command waits no longer.`,
  );
}

function watcherOf(work: Work): () => Promise<Sight> {
  const get = watchedGet(work.api, work.operation);
  return get ? () => poll(work, get) : findByName(work);
}

async function poll(work: Work, get: Endpoint): Promise<Sight> {
  const { api, connection } = work;
  try {
    return recordIn(await call(api, get, connection, watchedPlaces(work, get)));
  } catch (error) {
    if (error instanceof ApiError && httpStatusOf(api, error) === 404) return 'gone';
    throw error;
  }
}

/** Something new has no number yet, so it is looked for by its name. */
function findByName({ api, operation, connection, input }: Work): () => Promise<Sight> {
  let seen = false;
  return async () => {
    const record = (await recordsNamed(api, operation.group, connection, String(input['name']))).at(-1);
    if (!record) return seen ? 'gone' : 'not there yet';
    seen = true;
    return record;
  };
}

/** The whole record at the end, as `get` shows it. */
async function finalReply(work: Work, sight: Sight): Promise<Answer | undefined> {
  const { api, operation, connection, input } = work;
  const watched = watchedGet(api, operation);
  const get = watched ?? api.groups[operation.group]?.['get'];
  if (!get || typeof sight !== 'object' || sight['status'] === 'deleted') return undefined;
  if (watched) return exchange(api, get, connection, watchedPlaces(work, get));
  const [idParam = 'id'] = pathParams(get.path);
  return exchange(api, get, connection, placesOf(get, { [idParam]: sight['id'], ...input }));
}

/** What shows the record to watch: the contract says so, or the `get` of the group, where the path holds all it needs. */
function watchedGet(api: Api, { group, endpoint }: Operation): Endpoint | undefined {
  const { watch } = endpoint.job ?? {};
  if (watch) return api.groups[watch.group]?.['get'];
  const get = api.groups[group]?.['get'];
  const inPath = pathParams(endpoint.path);
  if (!get || inPath.length === 0) return undefined;
  return pathParams(get.path).every((name) => inPath.includes(name)) ? get : undefined;
}

/** What shows the record at the end of the wait. */
export function shownAfter(api: Api, operation: Operation): Endpoint {
  return watchedGet(api, operation) ?? api.groups[operation.group]?.['get'] ?? operation.endpoint;
}

function isNamed(api: Api, { group, endpoint }: Operation): boolean {
  return endpoint.params['name'] !== undefined && api.groups[group]?.['list']?.params['name'] !== undefined;
}

/** Names the record by what was sent, or by what the call replied. */
function watchedPlaces({ operation, input, started }: Work, get: Endpoint): Fields {
  const { watch } = operation.endpoint.job ?? {};
  if (!watch) return placesOf(get, input);
  const [idParam = 'id'] = pathParams(get.path);
  return { [idParam]: input[watch.by] ?? (started.value as Fields)[watch.by] };
}

function placesOf(endpoint: Endpoint, input: Fields): Fields {
  return Object.fromEntries(pathParams(endpoint.path).map((name) => [name, input[name]]));
}

/** The one record a `get` replies with, whatever it is called there. */
function recordIn(reply: unknown): Fields {
  const record = Object.values(reply as Fields).find((value) => typeof value === 'object' && value !== null);
  return (record ?? reply) as Fields;
}

/** `Array tank`: what was typed, be it a name or a number. */
export function subjectOf({ group, endpoint }: Operation, typed: Fields): string {
  const [idParam = 'name'] = pathParams(endpoint.path);
  const kind = group.replace(/s$/, '');
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${String(typed[idParam])}`;
}

function messageOf({ value }: Answer): string {
  const { message } = value as { message?: unknown };
  return typeof message === 'string' ? message : '';
}
