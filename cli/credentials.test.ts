import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../testing/folders.ts';
import {
  credentialsFile,
  portalConnection,
  portalUrl,
  readCredentials,
  readUrl,
  removeCredentials,
  writeCredentials,
} from './credentials.ts';

const kept = { url: 'http://127.0.0.1:7400', token: 'tok', username: 'admin' };

function environment(t: TestContext): Record<string, string> {
  return { XDG_CONFIG_HOME: join(temporaryFolder(t), 'config') };
}

test('what login keeps is read back, by its owner alone', (t) => {
  const env = environment(t);
  assert.equal(readCredentials(env), undefined);
  const file = writeCredentials(env, kept);
  assert.equal(file, join(env['XDG_CONFIG_HOME'] as string, 'granary', 'credentials.json'));
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(file)).mode & 0o777, 0o700);
  assert.deepEqual(readCredentials(env), kept);
  removeCredentials(env);
  assert.equal(readCredentials(env), undefined);
});

test('a file that others could read is closed when it is written anew', (t) => {
  const env = environment(t);
  const file = writeCredentials(env, kept);
  chmodSync(file, 0o644);
  writeCredentials(env, { ...kept, token: 'other' });
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal(readCredentials(env)?.token, 'other');
});

test('without XDG_CONFIG_HOME the file is in ~/.config', () => {
  assert.equal(credentialsFile({ HOME: '/home/ann' }), '/home/ann/.config/granary/credentials.json');
});

test('a broken file says to sign in again', (t) => {
  const env = environment(t);
  mkdirSync(dirname(credentialsFile(env)), { recursive: true });
  for (const text of ['{', '{}', 'null', '[]']) {
    writeFileSync(credentialsFile(env), text);
    assert.throws(() => readCredentials(env), { exitCode: 3, message: /granary login/ }, text);
  }
});

test('an address is understood in the forms people write it', () => {
  assert.equal(readUrl('localhost:7400'), 'http://localhost:7400');
  assert.equal(readUrl('https://granary.example.org/'), 'https://granary.example.org');
  assert.equal(readUrl('http://10.0.0.1:7400/api/'), 'http://10.0.0.1:7400');
  assert.throws(() => readUrl('ftp://x'), { exitCode: 2 });
  for (const text of ['http://', 'banana', 'http://:7400', 'host:banana'])
    assert.throws(() => readUrl(text), { exitCode: 2, message: /is not an address; write it as http:/ }, text);
});

test('the command goes before the environment, the environment before what was kept', (t) => {
  const env = environment(t);
  assert.equal(portalUrl(env, undefined), 'http://127.0.0.1:7400');
  writeCredentials(env, { ...kept, url: 'http://kept:1' });
  assert.equal(portalUrl(env, undefined), 'http://kept:1');
  assert.equal(portalUrl({ ...env, GRANARY_URL: 'env:2' }, undefined), 'http://env:2');
  assert.equal(portalUrl({ ...env, GRANARY_URL: 'env:2' }, 'option:3'), 'http://option:3');
});

test('a kept token is sent to the portal that gave it and to no other', (t) => {
  const env = environment(t);
  writeCredentials(env, kept);
  assert.deepEqual(portalConnection(env, { signedIn: true }), { url: kept.url, headers: { 'x-token': 'tok' } });
  assert.throws(() => portalConnection(env, { url: 'http://elsewhere', signedIn: true }), {
    exitCode: 3,
    message: /not signed in at http:\/\/elsewhere/,
  });
  const named = portalConnection({ ...env, GRANARY_TOKEN: 'mine' }, { url: 'http://elsewhere', signedIn: true });
  assert.deepEqual(named.headers, { 'x-token': 'mine' });
  assert.deepEqual(portalConnection(env, { signedIn: false }), { url: kept.url });
});
