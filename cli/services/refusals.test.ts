import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandFailure } from '../exit.ts';
import { startRefusal } from './refusals.ts';

const facts = { folder: '/data', log: '/data/granary.log', portFlags: { 7400: '--port', 7401: '--cloud-port' } };

function sentenceOf(error: unknown): string {
  const refusal = startRefusal(error, facts);
  assert.equal(refusal.exitCode, 1);
  return refusal.message;
}

function systemError(code: string, more: object): Error {
  return Object.assign(new Error(`${code}: something low`), { code, ...more });
}

test('a port that cannot be had names the option that sets it', () => {
  const taken = { syscall: 'listen', address: '127.0.0.1', port: 7401 };
  assert.equal(
    sentenceOf(systemError('EADDRINUSE', taken)),
    'Port 7401 on 127.0.0.1 is taken; stop what uses it or choose another with --cloud-port.',
  );
  assert.match(sentenceOf(systemError('EACCES', { ...taken, port: 80 })), /Port 80 is not allowed to you.*--port/);
  assert.match(
    sentenceOf(systemError('EADDRNOTAVAIL', { ...taken, address: '10.9.9.9' })),
    /no address 10\.9\.9\.9.*--host/,
  );
});

test('a folder that cannot be used says so, however deep the cause lies', () => {
  const denied = systemError('EACCES', { syscall: 'mkdir', path: '/data' });
  assert.match(sentenceOf(denied), /^\/data cannot be written \(EACCES\).*--data/);
  assert.match(sentenceOf(new Error('outer', { cause: denied })), /^\/data cannot be written/);
  assert.match(sentenceOf(systemError('ENOTDIR', { path: '/data/granary.log' })), /^\/data is not a folder/);
  assert.match(sentenceOf(systemError('ENOSPC', { path: '/data/x' })), /disk is full/);
  assert.match(sentenceOf(systemError('ERR_SQLITE_ERROR', { errcode: 13 })), /disk of \/data is full/);
});

test('the option that sets the folder is the one of the command', () => {
  const denied = systemError('EACCES', { syscall: 'mkdir', path: '/data' });
  assert.match(startRefusal(denied, { ...facts, folderFlag: '--dir' }).message, /another folder with --dir\.$/);
});

test('a second Granary on the same data names the first', () => {
  const busy = Object.assign(new Error('database is locked'), { code: 'ERR_SQLITE_ERROR', errcode: 5 });
  assert.match(sentenceOf(new Error('cloud.db is open', { cause: busy })), /^Another Granary is running on \/data/);
});

test('errors of our own are printed as they are; for others the log has more', () => {
  assert.equal(
    sentenceOf(Object.assign(new Error('granary.config.json cannot be used'), { name: 'ConfigError' })),
    'granary.config.json cannot be used',
  );
  assert.equal(sentenceOf(new Error('odd')), 'odd (more in /data/granary.log, or with --debug)');
  const own = new CommandFailure(2, 'said already');
  assert.equal(startRefusal(own, facts), own);
});
