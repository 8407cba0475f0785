import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { readChapSecret } from './chap-secret.ts';
import { readSize, sizeText } from './size.ts';

test('sizes are read and written with the units people use', () => {
  for (const text of ['512M', '10G', '2T', '1024T']) assert.equal(sizeText(readSize(text, '--size', 2 ** 50)), text);
  assert.equal(sizeText(readSize('1024M', '--size', 2 ** 50)), '1G');
  assert.equal(readSize('3', '--size', 2 ** 50), 3 * 2 ** 30);
});

test('sizes that are none, or beyond the limit, are refused by the name of the option', () => {
  for (const text of ['', '0', '-1G', '1K', 'much', '9999999']) {
    assert.throws(() => readSize(text, '--size', 2 ** 50), /--size must be a size such as 512M/);
  }
  assert.throws(() => readSize('1025T', '--size', 2 ** 50), /--size can be at most 1024T, not 1025T/);
  assert.throws(() => readSize('5G', '--cache', 2 ** 32), /--cache can be at most 4G, not 5G/);
});

test('the CHAP secret comes from a file, or else from the environment', (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'granary-chap-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'chap');
  fs.writeFileSync(file, 'joe:correct-horse:battery\n');
  assert.deepEqual(readChapSecret(file, 'ann:another-long-secret'), { user: 'joe', secret: 'correct-horse:battery' });
  assert.deepEqual(readChapSecret(undefined, 'ann:another-long-secret'), {
    user: 'ann',
    secret: 'another-long-secret',
  });
  assert.equal(readChapSecret(undefined, undefined), undefined);
});

test('a CHAP secret that cannot be used is refused without being shown', (context) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'granary-chap-'));
  context.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'chap');
  assert.throws(() => readChapSecret(file, undefined), /--chap-file: .* cannot be read \(ENOENT\)/);
  for (const text of ['', 'joe', 'joe:short', 'joe:correct-horse-battery\nann:correct-horse-battery']) {
    fs.writeFileSync(file, text);
    assert.throws(() => readChapSecret(file, undefined), {
      message: `--chap-file: ${file} must hold one line USER:SECRET, with a secret of 12 to 64 characters.`,
    });
  }
  assert.throws(() => readChapSecret(undefined, 'joe'), /GRANARY_CHAP must hold one line/);
});
