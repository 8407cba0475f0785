import { EventEmitter, once } from 'node:events';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { send, type TestMessage } from './channel.ts';

/** Files whose tests have all been sent. */
const files = new EventEmitter();

/** Resolves when every test of the file has been sent: the events of a test arrive some turns after its end. */
export async function reported(file: string): Promise<void> {
  await once(files, file);
}

type Finished = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>['data'];

/** Sends how each test went to the run; `worker.ts` has wrapped the tests of a file in one test named after the file. */
export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const path: string[] = [];
  for await (const event of source) {
    if (event.type === 'test:start') {
      path.length = event.data.nesting;
      path.push(event.data.name);
    } else if (event.type === 'test:pass' || event.type === 'test:fail') {
      const message = toMessage(event.type === 'test:pass', event.data, path.slice(0, event.data.nesting));
      if (message) send(message);
      if (event.data.nesting === 0) files.emit(event.data.name);
    } else if (event.type === 'test:diagnostic') {
      // Seeds to repeat a failure with, and what long runs measure; the totals of a process (nesting 0) are ours to print.
      if (event.data.nesting > 0) send({ kind: 'output', text: `${event.data.message}\n` });
    } else if (event.type === 'test:stderr' || event.type === 'test:stdout') yield event.data.message;
  }
}

function toMessage(passed: boolean, data: Finished, around: readonly string[]): TestMessage | undefined {
  const [file = data.name, ...suites] = around;
  const isFile = around.length === 0;
  const isSuite = data.details.type === 'suite';
  const error = 'error' in data.details ? data.details.error : undefined;
  // The failure of a subtest is not one more failure of what is around it.
  if ((error as { failureType?: string } | undefined)?.failureType === 'subtestsFailed') return undefined;
  if (passed && (isFile || isSuite)) return undefined;
  const path = isFile ? [] : [...suites, data.name];
  if (data.skip !== undefined) return { kind: 'test', file, path, outcome: 'skipped', ...detail(data.skip) };
  if (passed) return { kind: 'test', file, path, outcome: 'passed' };
  return { kind: 'test', file, path, outcome: 'failed', detail: inspect(error?.cause ?? error, { depth: 5 }) };
}

function detail(reason: string | boolean): { detail?: string } {
  return typeof reason === 'string' && reason !== '' ? { detail: reason } : {};
}
