import type { TestContext } from 'node:test';
import { cannedService, type Canned, type Seen } from '../../client/testing/service.ts';
import { main } from '../main.ts';
import { FakeTerminal } from './terminal.ts';

/** Replies by `METHOD /path`; a function is asked at every call. */
export type Replies = Readonly<Record<string, object | (() => object)>>;

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface FakePortal {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** Runs a command against the portal, signed in. */
  run(args: readonly string[], stdin?: string): Promise<Outcome>;
  /** The same at a terminal of this width, without colours. */
  runWatched(args: readonly string[], columns: number): Promise<Outcome>;
}

/** A portal that answers as the test says. */
export async function fakePortal(t: TestContext, replies: Replies): Promise<FakePortal> {
  const { url, seen } = await cannedService(t, ({ method, path }) => {
    const reply = replies[`${method} ${path.replace(/^\/api/, '')}`];
    if (!reply) return refused(404, `There is no ${method} ${path}.`);
    const value = typeof reply === 'function' ? (reply as () => object)() : reply;
    return isCanned(value) ? value : { body: JSON.stringify(value) };
  });
  const run = (args: readonly string[], stdin = '') =>
    runCommand(args, { GRANARY_URL: url, GRANARY_TOKEN: 'tok' }, stdin);
  const runWatched = async (args: readonly string[], columns: number) => {
    const env = { GRANARY_URL: url, GRANARY_TOKEN: 'tok', NO_COLOR: '1' };
    const terminal = new FakeTerminal({ env, columns, isWatched: true });
    const code = await main(args, terminal);
    return { code, out: terminal.out, err: terminal.err };
  };
  return { url, seen, run, runWatched };
}

export async function runCommand(args: readonly string[], env: Record<string, string>, stdin = ''): Promise<Outcome> {
  const terminal = new FakeTerminal({ stdin, env });
  const code = await main(args, terminal);
  return { code, out: terminal.out, err: terminal.err };
}

export function refused(status: number, message: string, errors?: { field: string; message: string }[]): Canned {
  return { status, body: JSON.stringify({ status: 'error', message, ...(errors && { errors }) }) };
}

function isCanned(reply: object): reply is Canned {
  return 'body' in reply;
}
