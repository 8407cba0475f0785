import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChapExchange, chapResponse, type ChapSecrets } from './chap.ts';
import { decodeBinary, encodeBinary } from './text.ts';

const SECRETS: ChapSecrets = { user: 'alice', secret: 'twelve bytes!' };
const MUTUAL: ChapSecrets = { ...SECRETS, mutualUser: 'array', mutualSecret: 'another secret' };
const HASHES = { '5': 'md5', '6': 'sha1', '7': 'sha256', '8': 'sha3-256' } as const;

function ask(chap: ChapExchange, algorithms: string) {
  const step = chap.step(new Map([['CHAP_A', algorithms]]));
  assert.equal(step.kind, 'reply');
  assert.ok('pairs' in step);
  const pairs = new Map(step.pairs);
  return {
    algorithm: pairs.get('CHAP_A') as keyof typeof HASHES,
    identifier: Number(pairs.get('CHAP_I')),
    challenge: decodeBinary(pairs.get('CHAP_C')!)!,
  };
}

function respond(chap: ChapExchange, secrets: ChapSecrets, algorithms: string, extra: [string, string][] = []) {
  const { algorithm, identifier, challenge } = ask(chap, algorithms);
  const response = chapResponse(HASHES[algorithm], identifier, secrets.secret, challenge);
  return chap.step(new Map([['CHAP_N', secrets.user], ['CHAP_R', encodeBinary(response)], ...extra]));
}

test('the right secret passes with every algorithm', () => {
  for (const algorithm of Object.keys(HASHES)) {
    assert.equal(respond(new ChapExchange(SECRETS), SECRETS, algorithm).kind, 'passed');
  }
});

test('a wrong secret, a wrong name and no answer at all are refused', () => {
  assert.equal(respond(new ChapExchange(SECRETS), { ...SECRETS, secret: 'wrong' }, '5').kind, 'refused');
  assert.equal(respond(new ChapExchange(SECRETS), { ...SECRETS, user: 'mallory' }, '5').kind, 'refused');
  const silent = new ChapExchange(SECRETS);
  ask(silent, '5');
  assert.equal(silent.step(new Map()).kind, 'refused');
});

test('without an algorithm in common there is no login', () => {
  assert.equal(new ChapExchange(SECRETS).step(new Map([['CHAP_A', '99']])).kind, 'refused');
  assert.equal(new ChapExchange(SECRETS).step(new Map()).kind, 'refused');
});

test('no two questions are the same', () => {
  const one = ask(new ChapExchange(SECRETS), '7').challenge;
  assert.notDeepEqual(ask(new ChapExchange(SECRETS), '7').challenge, one);
});

test('the target proves itself when it is asked to and has a secret for that', () => {
  const challenge = Buffer.from('0123456789abcdef');
  const question: [string, string][] = [
    ['CHAP_I', '9'],
    ['CHAP_C', encodeBinary(challenge)],
  ];
  const step = respond(new ChapExchange(MUTUAL), MUTUAL, '7,5', question);
  assert.equal(step.kind, 'passed');
  assert.deepEqual('pairs' in step && step.pairs, [
    ['CHAP_N', 'array'],
    ['CHAP_R', encodeBinary(chapResponse('sha256', 9, 'another secret', challenge))],
  ]);
  assert.equal(respond(new ChapExchange(SECRETS), SECRETS, '5', question).kind, 'refused');
});

test('our own question sent back is not answered', () => {
  const chap = new ChapExchange(MUTUAL);
  const { identifier, challenge } = ask(chap, '5');
  const response = chapResponse('md5', identifier, MUTUAL.secret, challenge);
  const step = chap.step(
    new Map([
      ['CHAP_N', 'alice'],
      ['CHAP_R', encodeBinary(response)],
      ['CHAP_I', String(identifier)],
      ['CHAP_C', encodeBinary(challenge)],
    ]),
  );
  assert.equal(step.kind, 'refused');
});
