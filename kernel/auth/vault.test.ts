import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { temporaryFolder } from '../../testing/folders.ts';
import { fingerprint, newSecret, Vault } from './vault.ts';

function withMasterKey(t: TestContext, value: string): void {
  process.env['GRANARY_MASTER_KEY'] = value;
  t.after(() => {
    delete process.env['GRANARY_MASTER_KEY'];
  });
}

test('what is sealed comes back whole, and each seal is another', () => {
  const vault = new Vault(randomBytes(32));
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (plain) => {
      assert.equal(vault.unseal(vault.seal(plain)), plain);
      assert.notEqual(vault.seal(plain), vault.seal(plain));
    }),
  );
});

test('a change of any bit of a seal is noticed, and so is a missing piece', () => {
  const vault = new Vault(randomBytes(32));
  const sealed = Buffer.from(vault.seal('a token'), 'base64');
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const forged = Buffer.from(sealed);
    forged[bit >> 3] = (forged[bit >> 3] as number) ^ (1 << (bit & 7));
    assert.throws(() => vault.unseal(forged.toString('base64')));
  }
  for (let length = 0; length < sealed.length; length++) {
    assert.throws(() => vault.unseal(sealed.subarray(0, length).toString('base64')));
  }
});

test('another key opens nothing', () => {
  const sealed = new Vault(randomBytes(32)).seal('a token');
  assert.throws(() => new Vault(randomBytes(32)).unseal(sealed));
});

test('the key is made once, lies beside the data and is for its owner alone', (t) => {
  const file = join(temporaryFolder(t), 'new', 'master.key');
  const sealed = Vault.open(file).seal('a token');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(file, 'utf8'), /^[0-9a-f]{64}$/);
  chmodSync(file, 0o644);
  assert.equal(Vault.open(file).unseal(sealed), 'a token');
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a key that was cut short is refused rather than replaced', (t) => {
  const file = join(temporaryFolder(t), 'master.key');
  writeFileSync(file, 'abcd');
  assert.throws(() => Vault.open(file), /64 hex digits/);
  assert.equal(readFileSync(file, 'utf8'), 'abcd');
});

test('GRANARY_MASTER_KEY keeps the key out of the data', (t) => {
  const file = join(temporaryFolder(t), 'master.key');
  withMasterKey(t, 'ab'.repeat(32));
  const sealed = Vault.open(file).seal('a token');
  assert.equal(new Vault(Buffer.alloc(32, 0xab)).unseal(sealed), 'a token');
  assert.throws(() => statSync(file));
});

test('a GRANARY_MASTER_KEY that is no key is refused', (t) => {
  withMasterKey(t, 'short');
  assert.throws(() => Vault.open('unused'), /64 hex digits/);
});

test('requests are compared by a mark that only this key can make', () => {
  const [ours, theirs] = [new Vault(randomBytes(32)), new Vault(randomBytes(32))];
  assert.equal(ours.mark('a request'), ours.mark('a request'));
  assert.notEqual(ours.mark('a request'), ours.mark('another request'));
  assert.notEqual(ours.mark('a request'), theirs.mark('a request'));
});

test('secrets are long, distinct and safe in a shell and a URL', () => {
  const secrets = new Set(Array.from({ length: 1000 }, () => newSecret()));
  assert.equal(secrets.size, 1000);
  for (const secret of secrets) assert.match(secret, /^[\w-]{27}$/);
  assert.equal(fingerprint('a'), fingerprint('a'));
  assert.notEqual(fingerprint('a'), fingerprint('b'));
});
