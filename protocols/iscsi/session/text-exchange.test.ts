import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../limits.ts';
import type { SessionParameters } from '../login/parameters.ts';
import { CONTINUE, FINAL, RESERVED_TAG } from '../pdu/opcodes.ts';
import type { Responder } from './responder.ts';
import { TextExchange } from './text-exchange.ts';

function request(flags: number): Buffer {
  const header = Buffer.alloc(48);
  header[1] = flags;
  header.writeUInt32BE(RESERVED_TAG, 20);
  return header;
}

test('empty pieces of a text request do not pile up', (t) => {
  const answers: Buffer[] = [];
  const responder = { textResponse: (...[, , , text]: [number, number, number, Buffer]) => answers.push(text) };
  const parameters = { initiatorDataSegmentBytes: 8192 } as SessionParameters;
  const list = (name: string | undefined) => Buffer.from(`TargetName=${name ?? 'all'}\0`);
  const exchange = new TextExchange(responder as unknown as Responder, parameters, DEFAULT_LIMITS, list);
  exchange.handle(request(CONTINUE), Buffer.from('SendTar'));
  for (let piece = 0; piece < 10_000; piece += 1) exchange.handle(request(CONTINUE), Buffer.alloc(0));
  const concat = t.mock.method(Buffer, 'concat');
  exchange.handle(request(FINAL), Buffer.from('gets=All\0'));
  assert.equal(concat.mock.calls[0]?.arguments[0].length, 2);
  assert.equal(answers.at(-1)?.toString(), 'TargetName=all\0');
});
